import jakarta.persistence.*;
import java.math.BigDecimal;
import java.time.*;
import java.util.*;
import org.hibernate.*;
import org.hibernate.cfg.Configuration;

/** The same table as Hibernate's entity, whose mapping it checks against the catalogue first. */
public class Entities {
    @Entity(name = "Person")
    @Table(name = "person")
    public static class Person {
        @Id
        @GeneratedValue(strategy = GenerationType.IDENTITY)
        Long id;
        @Column(name = "name", length = 40, nullable = false)
        String name;
        @Column(precision = 10, scale = 2)
        BigDecimal salary;
        LocalDate born;
        Long visits;
        @Column(name = "rank_no")
        Integer rank;
        LocalDateTime made;
        @Column(columnDefinition = "text")
        String story;
        @Column(length = 20)
        String phone;

        String told() {
            return id + " " + name + " " + salary + " " + born + " " + visits + " " + rank + " " + made + " " + story + " " + phone;
        }
    }

    static void run(String url, List<String> notes) {
        java.util.logging.Logger.getLogger("org.hibernate").setLevel(java.util.logging.Level.SEVERE);
        Configuration configuration = new Configuration().addAnnotatedClass(Person.class);
        configuration.setProperty("hibernate.connection.url", url);
        configuration.setProperty("hibernate.hbm2ddl.auto", "validate");
        configuration.setProperty("hibernate.jdbc.batch_size", "10");
        configuration.setProperty("hibernate.connection.pool_size", "2");
        try (SessionFactory factory = configuration.buildSessionFactory()) {
            List<Long> ids = new ArrayList<>();
            factory.inTransaction(session -> {
                for (int i = 0; i < 4; i++) {
                    Person person = new Person();
                    person.name = i < 2 ? "Twin" : "Entity " + i;
                    person.salary = new BigDecimal(i + ".50");
                    person.born = LocalDate.of(1990, 1, 1 + i);
                    person.visits = 10L * i;
                    person.rank = i == 3 ? null : i;
                    person.made = LocalDateTime.of(2020, 1, 1, 0, 0, i);
                    person.story = "story " + i;
                    person.phone = "137****000" + i;
                    session.persist(person);
                    ids.add(person.id);
                }
            });
            factory.inSession(session -> {
                for (Long id : ids) notes.add(session.find(Person.class, id).told());
                for (Person person : session.createSelectionQuery("from Person where name = :name order by id", Person.class).setParameter("name", "Twin").list())
                    notes.add("by name " + person.told());
                for (Person person : session.createSelectionQuery("from Person where born = :born and salary = :salary", Person.class)
                        .setParameter("born", LocalDate.of(1990, 1, 3)).setParameter("salary", new BigDecimal("2.50")).list())
                    notes.add("by values " + person.told());
                notes.add("count " + session.createSelectionQuery("select count(p) from Person p where p.name in :names", Long.class)
                        .setParameter("names", List.of("Twin", "Entity 3")).getSingleResult());
            });
            factory.inTransaction(session -> {
                Person person = session.find(Person.class, ids.get(2));
                person.name = "Renamed";
                person.salary = null;
                session.remove(session.find(Person.class, ids.get(3)));
                notes.add("changed " + session.createMutationQuery("update Person set visits = :visits where name = :name").setParameter("visits", 77L)
                        .setParameter("name", "Twin").executeUpdate());
            });
            factory.inSession(session -> {
                for (Person person : session.createSelectionQuery("from Person where id >= :first order by id", Person.class).setParameter("first", ids.get(0)).list())
                    notes.add("at last " + person.told());
            });
        }
    }
}
