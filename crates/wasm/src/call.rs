//! One call: a fresh instance with its bounds, its arguments, and what comes back.

use std::sync::Arc;

use pando_kernel::module::{Argument, Export, Fault, Function, Given, Gives};
use wasmtime::{
    ExternType, Func, FuncType, Store, StoreLimits, StoreLimitsBuilder, Trap, Val, ValType,
};

use crate::abi::{Guest, flat};
use crate::code::{Code, first_line};
use crate::machine::{BEATS, FUEL, MEMORY, TABLE};

const MEMORY_NAME: &str = "memory";
const REALLOC: &str = "cabi_realloc";
/// What modules of languages that set their memory up have; called first where it is there.
const INITIALIZE: &str = "_initialize";

/// A function of a module, whose type has been checked.
#[derive(Debug)]
pub(crate) struct Callable {
    code: Arc<Code>,
    name: String,
    gives: Gives,
}

impl Callable {
    /// The function; `None` where the module has none of this name.
    ///
    /// # Errors
    /// It is no function of this type, or the module lacks what calls need.
    pub(crate) fn of(code: Arc<Code>, export: &Export<'_>) -> Result<Option<Self>, String> {
        let Some(found) = code.module.get_export(export.name) else { return Ok(None) };
        let engine = code.module.engine();
        let wanted = FuncType::new(engine, flat(export.takes), [ValType::I32]);
        is_of(&found, &wanted).map_err(|why| format!("`{}` {why}", export.name))?;
        let realloc = FuncType::new(engine, vec![ValType::I32; 4], [ValType::I32]);
        match code.module.get_export(REALLOC) {
            Some(found) => is_of(&found, &realloc).map_err(|why| format!("`{REALLOC}` {why}"))?,
            None => return Err(format!("it exports no `{REALLOC}`")),
        }
        if !matches!(code.module.get_export(MEMORY_NAME), Some(ExternType::Memory(_))) {
            return Err(format!("it exports no `{MEMORY_NAME}`"));
        }
        Ok(Some(Self { code, name: export.name.to_owned(), gives: export.gives }))
    }

    /// What comes back, and the text of the function's own error.
    ///
    /// # Errors
    /// What failed.
    fn answer(&self, arguments: &[Argument<'_>]) -> Result<Result<Given, String>, String> {
        let mut store = bounded(self.code.module.engine()).map_err(|error| failed(&error))?;
        let at = self.run(&mut store, arguments).map_err(|error| failed(&error))?;
        let (guest, at) = at;
        guest.lift(&mut store, at, self.gives).map_err(|why| format!("has failed: {why}"))
    }

    fn run(
        &self,
        store: &mut Store<StoreLimits>,
        arguments: &[Argument<'_>],
    ) -> wasmtime::Result<(Guest, u32)> {
        let lacks = |name: &str| wasmtime::Error::msg(format!("it has no `{name}`"));
        let instance = self.code.ready.instantiate(&mut *store)?;
        if let Some(first) = instance.get_func(&mut *store, INITIALIZE) {
            first.typed::<(), ()>(&*store)?.call(&mut *store, ())?;
        }
        let memory = instance.get_memory(&mut *store, MEMORY_NAME);
        let memory = memory.ok_or_else(|| lacks(MEMORY_NAME))?;
        let realloc = instance.get_typed_func(&mut *store, REALLOC)?;
        let guest = Guest { memory, realloc };
        let parameters = guest.lower(&mut *store, arguments)?;
        let function: Func =
            instance.get_func(&mut *store, &self.name).ok_or_else(|| lacks(&self.name))?;
        let mut given = [Val::I32(0)];
        function.call(&mut *store, &parameters, &mut given)?;
        let at = given.first().and_then(Val::i32).unwrap_or_default();
        Ok((guest, at.cast_unsigned()))
    }
}

impl Function for Callable {
    fn call(&self, arguments: &[Argument<'_>]) -> Result<Given, Fault> {
        self.answer(arguments).map_err(Fault::Failed)?.map_err(Fault::Said)
    }
}

fn is_of(found: &ExternType, wanted: &FuncType) -> Result<(), String> {
    match found.func() {
        Some(own) if FuncType::eq(own, wanted) => Ok(()),
        Some(own) => Err(format!("is of type {own}, and has to be of type {wanted}")),
        None => Err("is no function".to_owned()),
    }
}

fn bounded(engine: &wasmtime::Engine) -> wasmtime::Result<Store<StoreLimits>> {
    let limits = StoreLimitsBuilder::new().memory_size(MEMORY).table_elements(TABLE).build();
    let mut store = Store::try_new(engine, limits)?;
    store.limiter(|limits| limits);
    store.set_fuel(FUEL)?;
    store.set_epoch_deadline(BEATS);
    Ok(store)
}

/// What ended a call. Places in the module's code are left out: they would tell nothing to who asks.
fn failed(error: &wasmtime::Error) -> String {
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => format!("has come to its bound of {FUEL} steps"),
        Some(Trap::Interrupt) => "has come to its bound of time".to_owned(),
        Some(Trap::StackOverflow) => "has come to its bound of nested calls".to_owned(),
        Some(trap) => format!("has failed: {trap}"),
        None => format!("has failed: {}", first_line(error)),
    }
}
