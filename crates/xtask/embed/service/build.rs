//! Compiles prints.v2.yaml into the program.

fn main() -> Result<(), orbgate::build::BuildError> {
    orbgate::build::compile("prints.v2.yaml")
}
