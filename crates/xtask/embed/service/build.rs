//! Compiles policy.yaml into the program.

fn main() -> Result<(), orbgate::build::BuildError> {
    orbgate::build::compile("policy.yaml")
}
