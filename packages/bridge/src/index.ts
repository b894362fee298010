export { BridgeRuntime } from './runtime/runtime.ts';
export type { BridgeRuntimeOptions, RunResult } from './runtime/options.ts';
export { RuntimeError, type RuntimeErrorCode } from './runtime/runtime-error.ts';
export type { EndReason, RuntimeEvent } from './runtime/events.ts';
export type { Execution, Executor, Exit, Job, StopSignal } from './runtime/executor.ts';
export { localBridges, type LocalBridge } from './runtime/local-bridges.ts';
export { shellExecutor, type ShellExecutorOptions } from './runtime/process.ts';
export { looksSecret, type EnvironmentOptions } from './runtime/environment.ts';
export { stopDeadlineMs, type EventData } from './protocol/events.ts';
