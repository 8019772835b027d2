pub mod diagnostic;
pub mod promela;
