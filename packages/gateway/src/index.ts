export { createApp, type App, type AppOptions, type Served } from './app.ts';
export { startGateway, type Gateway, type GatewayOptions } from './start.ts';
export { loadConfig, type ConfigSources, type LoadedConfig, type Setting } from './config/load.ts';
export { settingFacts, type SettingFacts } from './config/reference.ts';
export { ConfigError } from './config/config-error.ts';
export type { Config } from './config/schema.ts';
export type { Authenticator, Caller, SignedInCaller, WorkerCaller } from './http/callers.ts';
export type { Handler, HandlerCall, Handlers, SseFrame } from './http/handler.ts';
export { createProgram } from './program.ts';
