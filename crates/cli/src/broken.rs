//! The `pando-broken` binary: the same program, from a build with the feature `broken`, beside the whole one.

fn main() -> std::process::ExitCode {
    pando::main()
}
