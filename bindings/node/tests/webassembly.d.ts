// What this package uses of WebAssembly, which TypeScript declares for browsers only.
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class RuntimeError extends Error {}
  class Instance {
    constructor(module: Module, imports?: object);
    readonly exports: any;
  }
  function compile(bytes: ArrayBuffer | Uint8Array): Promise<Module>;
}
