"""SQLAlchemy's ORM over psycopg and PyMySQL: create_all, relations over binding tables, inspection."""

from decimal import Decimal

from sqlalchemy import BigInteger, Integer, Numeric, String, create_engine, func, insert, inspect, select, text, update
from sqlalchemy.exc import IntegrityError, ProgrammingError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

from cases import DATABASE, FAMILY, PORT, case, done, equal, refused

DRIVER = "postgresql+psycopg" if FAMILY == "pg" else "mysql+pymysql"
engine = create_engine(f"{DRIVER}://test:test@127.0.0.1:{PORT}/{DATABASE}", pool_size=4, pool_pre_ping=True)


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "t_order"
    order_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    user_id: Mapped[int] = mapped_column(Integer)
    status: Mapped[str | None] = mapped_column(String(32), index=True)
    amount: Mapped[Decimal] = mapped_column(Numeric(10, 2))
    items: Mapped[list["Item"]] = relationship(
        primaryjoin="and_(Order.order_id == foreign(Item.order_id), Order.user_id == foreign(Item.user_id))", viewonly=True
    )


class Item(Base):
    __tablename__ = "t_order_item"
    item_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    order_id: Mapped[int] = mapped_column(BigInteger)
    user_id: Mapped[int] = mapped_column(Integer)


class Word(Base):
    __tablename__ = "t_dict"
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    word: Mapped[str] = mapped_column(String(20))


class Line(Base):
    __tablename__ = "t_log"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    line: Mapped[str] = mapped_column(String(40))


@case
def create_all_twice():
    Base.metadata.create_all(engine)
    Base.metadata.create_all(engine)


@case
def inspection_shows_logic_tables():
    found = inspect(engine)
    equal(sorted(found.get_table_names()), ["t_dict", "t_log", "t_order", "t_order_item"])
    equal([column["name"] for column in found.get_columns("t_order")], ["order_id", "user_id", "status", "amount"])
    equal(found.get_pk_constraint("t_order")["constrained_columns"], ["order_id"])
    equal([index["column_names"] for index in found.get_indexes("t_order")], [["status"]])


@case
def flush_and_read_back():
    with Session(engine) as session:
        session.add_all(Order(order_id=i, user_id=i % 5, status=f"s{i % 2}", amount=Decimal(i)) for i in range(1, 41))
        session.add_all(Item(item_id=i * 10 + k, order_id=i, user_id=i % 5) for i in range(1, 41) for k in range(2))
        session.add_all([Word(id=1, word="one"), Word(id=2, word="two")])
        session.commit()
        equal(session.scalar(select(func.count()).select_from(Order)), 40)
        equal(session.get(Order, 7).amount, Decimal("7.00"))
        equal(len(session.get(Order, 7).items), 2)


@case
def generated_keys_find_their_objects():
    with Session(engine) as session:
        lines = [Line(line=f"line {i}") for i in range(60)]
        session.add_all(lines)
        session.commit()
        equal(len({line.id for line in lines}), 60)
        kept = {line.id: line.line for line in lines}
        session.expunge_all()
        equal({line.id: line.line for line in session.scalars(select(Line))}, kept)


@case
def rows_inserted_at_once_come_back():
    with Session(engine) as session:
        rows = [{"order_id": i, "user_id": i % 7, "status": "bulk", "amount": Decimal(i)} for i in range(1000, 1100)]
        if FAMILY == "pg":
            found = session.scalars(insert(Order).returning(Order.order_id, sort_by_parameter_order=True), rows).all()
            equal(list(found), list(range(1000, 1100)))
        else:
            session.execute(insert(Order), rows)
        equal(session.scalar(select(func.count()).where(Order.status == "bulk")), 100)
        session.rollback()


@case
def join_of_binding_tables():
    with Session(engine) as session:
        joined = (
            select(Order.order_id, Item.item_id)
            .join(Item, (Order.order_id == Item.order_id) & (Order.user_id == Item.user_id))
            .where(Order.order_id.in_([3, 4]))
            .order_by(Item.item_id)
        )
        equal([tuple(row) for row in session.execute(joined)], [(3, 30), (3, 31), (4, 40), (4, 41)])


@case
def group_and_page():
    with Session(engine) as session:
        groups = session.execute(select(Order.status, func.sum(Order.amount)).group_by(Order.status).order_by(Order.status))
        equal([tuple(row) for row in groups], [("s0", Decimal("420.00")), ("s1", Decimal("400.00"))])
        page = session.scalars(select(Order.order_id).order_by(Order.amount.desc()).limit(3).offset(5))
        equal(list(page), [35, 34, 33])


@case
def update_by_object_and_by_statement():
    with Session(engine) as session:
        session.get(Order, 5).status = "changed"
        session.commit()
        count = session.execute(update(Order).where(Order.order_id > 30).values(status="late")).rowcount
        session.commit()
        equal(count, 10)
        equal(session.scalar(select(func.count()).where(Order.status == "late")), 10)


@case
def rollback_leaves_nothing():
    with Session(engine) as session:
        session.delete(session.get(Order, 8))
        session.flush()
        equal(session.scalar(select(func.count()).select_from(Order)), 39)
        session.rollback()
        equal(session.scalar(select(func.count()).select_from(Order)), 40)


@case
def errors_are_of_their_class():
    def add_again():
        with Session(engine) as session:
            session.add(Order(order_id=1, user_id=1, amount=Decimal(0)))
            session.commit()

    def from_nowhere():
        with engine.connect() as connection:
            connection.execute(text("select * from nowhere"))

    refused(IntegrityError, add_again, lambda error: True)
    refused(ProgrammingError, from_nowhere, lambda error: True)


@case
def drop_all():
    Base.metadata.drop_all(engine)
    equal(inspect(engine).get_table_names(), [])


engine.dispose()
done()
