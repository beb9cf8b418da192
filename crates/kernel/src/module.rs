//! Functions of people's own modules, as rooms call them: what is handed over, what comes back, and no word of what runs them.

use std::fmt::Debug;
use std::sync::Arc;

use pando_config::{Algorithm, Problem};

use crate::error::{Error, ErrorKind, Result};

/// The type of an algorithm that is a function of a module.
pub const CLASS_BASED: &str = "CLASS_BASED";

/// The property that names the module, and a function in it.
const CLASS: &str = "algorithmClassName";

/// The property with the digest of the module.
const DIGEST: &str = "sha256";

/// The property of sharding algorithms that says what they decide by.
pub const STRATEGY: &str = "strategy";

/// Where modules are.
pub trait Modules: Debug + Send + Sync {
    /// A function of a module, which has been read, checked and compiled; `None` where the module has none of this name.
    ///
    /// # Errors
    /// What is wrong with the module or the function, in words for who has written the configuration.
    fn function(&self, export: &Export<'_>) -> Found;
}

/// What is found in a module.
pub type Found = std::result::Result<Option<Arc<dyn Function>>, String>;

/// A function of a module. What it gives hangs on what it is given, and on nothing else: each call begins with the module as it
/// was when it was read.
pub trait Function: Debug + Send + Sync {
    /// Calls it, within bounds of work, time and memory.
    ///
    /// # Errors
    /// It says that it cannot, fails, or comes to a bound.
    fn call(&self, arguments: &[Argument<'_>]) -> std::result::Result<Given, Fault>;
}

/// Why a function has given nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// In the function's own words, which may tell what it was given.
    Said(String),
    /// It has failed or come to a bound.
    Failed(String),
}

/// Which function is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Export<'a> {
    /// The module's file, without its folder.
    pub module: &'a str,
    /// The digest that it must have: SHA-256 in hexadecimal digits.
    pub digest: Option<&'a str>,
    /// The function's name.
    pub name: &'a str,
    /// What it is given.
    pub takes: &'a [Takes],
    /// What comes back.
    pub gives: Gives,
}

/// What a function is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// A text: `string`.
    Text,
    /// A text or nothing: `option<string>`.
    Perhaps,
    /// Texts: `list<string>`.
    Texts,
    /// Pairs of texts: `list<tuple<string, string>>`.
    Pairs,
    /// A whole number of 64 bits, without a sign: `u64`.
    Number,
    /// `bool`.
    Bool,
}

/// What comes back of a function, or a text that says why nothing does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gives {
    /// `result<string, string>`.
    Text,
    /// `result<list<string>, string>`.
    Texts,
    /// `result<bool, string>`.
    Bool,
}

/// One of what a function is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument<'a> {
    /// A text.
    Text(&'a str),
    /// A text or nothing.
    Perhaps(Option<&'a str>),
    /// Texts.
    Texts(&'a [&'a str]),
    /// Pairs of texts.
    Pairs(&'a [(String, String)]),
    /// A whole number.
    Number(u64),
    /// True or false.
    Bool(bool),
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// A text.
    Text(String),
    /// Texts.
    Texts(Vec<String>),
    /// True or false.
    Bool(bool),
}

impl Given {
    /// The text, of a function that gives one.
    pub fn text(self) -> Option<String> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The texts, of a function that gives them.
    pub fn texts(self) -> Option<Vec<String>> {
        if let Self::Texts(texts) = self { Some(texts) } else { None }
    }

    /// What is true, of a function that says it.
    pub fn holds(self) -> Option<bool> {
        if let Self::Bool(holds) = self { Some(holds) } else { None }
    }
}

/// No modules.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoModules;

impl Modules for NoModules {
    fn function(&self, _: &Export<'_>) -> Found {
        Err("this instance serves no modules: start it with `--modules DIR`".to_owned())
    }
}

/// An algorithm of type `CLASS_BASED`, as configured.
#[derive(Debug)]
pub struct Class<'a> {
    algorithm: &'a Algorithm,
    module: &'a str,
    /// What its functions' names begin with, where the configuration says it.
    prefix: Option<&'a str>,
    /// What is handed over with each call: all properties but those that say which function it is.
    props: Arc<[(String, String)]>,
}

/// A function of an algorithm, with its properties.
#[derive(Debug, Clone)]
pub struct Own {
    /// What it is called: `FILE#NAME`.
    name: Arc<str>,
    function: Arc<dyn Function>,
    props: Arc<[(String, String)]>,
}

impl<'a> Class<'a> {
    /// Reads which module it is in.
    ///
    /// # Errors
    /// Where it does not say so.
    pub fn of(algorithm: &'a Algorithm) -> std::result::Result<Self, Problem> {
        let kind = &algorithm.kind;
        let class = algorithm.props.get(CLASS).ok_or_else(|| {
            kind.at.problem(format!("property `{CLASS}` of `{CLASS_BASED}` is required"))
        })?;
        let (module, prefix) = match class.split_once('#') {
            Some((module, prefix)) => (module, Some(prefix)),
            None => (class.as_str(), None),
        };
        let is_of_pando = |key: &str| [CLASS, DIGEST, STRATEGY].contains(&key);
        let pairs = algorithm.props.iter().filter(|(key, _)| !is_of_pando(key.as_str()));
        let props = pairs.map(|(key, value)| (key.value.clone(), value.value.clone())).collect();
        Ok(Self { algorithm, module, prefix, props })
    }

    /// One of its functions: `mask`, or `NAME-mask` where the configuration says `FILE#NAME`.
    ///
    /// # Errors
    /// Why there is none.
    pub fn function(
        &self,
        wanted: &Wanted<'_>,
        modules: &dyn Modules,
    ) -> std::result::Result<Own, Problem> {
        self.perhaps(wanted, modules)?.ok_or_else(|| {
            let name = self.named(wanted);
            self.wrong(format!("module `{}` has no function `{name}`", self.module))
        })
    }

    /// The same of one that may be left out.
    ///
    /// # Errors
    /// What is wrong with the module or the function.
    pub fn perhaps(
        &self,
        wanted: &Wanted<'_>,
        modules: &dyn Modules,
    ) -> std::result::Result<Option<Own>, Problem> {
        let name = self.named(wanted);
        let digest = self.algorithm.props.get(DIGEST);
        let export = Export {
            module: self.module,
            digest: digest.map(|digest| digest.as_str()),
            name: &name,
            takes: wanted.takes,
            gives: wanted.gives,
        };
        let found = modules.function(&export).map_err(|why| self.wrong(why))?;
        let name: Arc<str> = format!("{}#{name}", self.module).into();
        Ok(found.map(|function| Own { name, function, props: Arc::clone(&self.props) }))
    }

    /// A text that is the same for algorithms that do the same with the same.
    pub fn identity(&self) -> String {
        let digest = self.algorithm.props.get(DIGEST).map_or("", |digest| digest.as_str());
        let prefix = self.prefix.unwrap_or_default();
        format!("{CLASS_BASED} {}#{prefix} {digest} {:?}", self.module, self.props)
    }

    fn named(&self, wanted: &Wanted<'_>) -> String {
        match self.prefix {
            None => wanted.name.to_owned(),
            Some(prefix) => format!("{prefix}-{}", wanted.name),
        }
    }

    fn wrong(&self, why: String) -> Problem {
        let at = self.algorithm.props.get(CLASS).map_or(&self.algorithm.at, |class| &class.at);
        at.problem(why)
    }
}

/// Which of an algorithm's functions is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// What it is called where the configuration gives no name.
    pub name: &'a str,
    /// What it is given. First are its properties: [`Takes::Pairs`].
    pub takes: &'a [Takes],
    /// What comes back.
    pub gives: Gives,
}

impl Own {
    /// Calls the function with the algorithm's properties, and these.
    ///
    /// # Errors
    /// `Algorithm`, in its own words where it has said any.
    pub fn call(&self, arguments: &[Argument<'_>]) -> Result<Given> {
        self.called(arguments, |said| format!(" has failed: {said}"))
    }

    /// The same where nobody is to hear what it was given.
    ///
    /// # Errors
    /// `Algorithm`, without its own words.
    pub fn call_in_private(&self, arguments: &[Argument<'_>]) -> Result<Given> {
        self.called(arguments, |_| " says that it cannot".to_owned())
    }

    fn called(&self, arguments: &[Argument<'_>], told: impl Fn(&str) -> String) -> Result<Given> {
        let mut all = Vec::with_capacity(arguments.len() + 1);
        all.push(Argument::Pairs(&self.props));
        all.extend_from_slice(arguments);
        self.function.call(&all).map_err(|fault| {
            let why = match fault {
                Fault::Said(text) => told(&text),
                Fault::Failed(why) => format!(" {why}"),
            };
            Error::new(ErrorKind::Algorithm(format!("`{}`{why}", self.name)))
        })
    }
}

/// What a function gave that was checked to give something else.
pub fn misgiven() -> Error {
    Error::internal("a function of a module has given something of another type")
}
