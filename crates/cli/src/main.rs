//! The `pando` binary.

fn main() -> std::process::ExitCode {
    pando::main()
}
