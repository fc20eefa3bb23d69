export {
  type Argument,
  formatValue,
  type ParsedArgument,
  parseArgument,
  takesValue,
  whyNotCallable,
} from './arguments.ts';
export { type Ending, ProgramExit, Stopped } from './ending.ts';
export { createExtismHost, type ExtismHost, type ExtismHostOptions, type LogLevel } from './extism-host.ts';
export type { MissingRule } from './imports.ts';
export { missingImports, type Program, programKind, usesExtism, usesWasi } from './plan.ts';
export { createRunner, type FunctionRun, type RunFigures, type RunHost, type RunResult, type RunTask } from './run.ts';
export { type RunSources, type StackFrame, stackLines } from './source-stack.ts';
export { createStopper, type Stopper, sleep } from './stopper.ts';
export { createWasi } from './wasi.ts';
export type { StreamName, Wasi, WasiModule, WasiOptions } from './wasi-interface.ts';
