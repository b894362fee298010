export { BridgeRuntime } from './runtime/runtime.ts';
export type { BridgeRuntimeOptions, RunResult } from './runtime/options.ts';
export type { EndReason, RuntimeEvent } from './runtime/events.ts';
export type { Execution, Executor, Exit, Job, StopSignal } from './runtime/executor.ts';
export { shellExecutor, type ShellExecutorOptions } from './runtime/process.ts';
export { looksSecret, type EnvironmentOptions } from './runtime/environment.ts';
export { stopDeadlineMs, type EventData } from './protocol/events.ts';
