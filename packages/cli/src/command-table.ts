import type { Command } from './command.ts';
import type { Io } from './io.ts';

/** One of tenon's commands, or groups of commands, as `tenon --help` lists them. */
export interface CommandEntry {
  readonly name: string;
  readonly alias?: string;
  readonly heading: string;
  readonly summary: string;
  /** Loads what adds it to the program: a command waits for no module but its own. */
  readonly load: () => Promise<(program: Command, io: Io) => void>;
}

export const commandTable: readonly CommandEntry[] = [
  {
    name: 'app',
    heading: 'Distribution:',
    summary: 'applications, which own extension points and invite guests',
    load: async () => (await import('./commands/app.ts')).addAppCommands,
  },
  {
    name: 'extension-point',
    alias: 'ext',
    heading: 'Distribution:',
    summary: 'extension points: the interfaces that plugins implement',
    load: async () => (await import('./commands/extension-point.ts')).addExtensionPointCommands,
  },
  {
    name: 'guest',
    heading: 'Distribution:',
    summary: 'guests: plugin developers, identified by a guest key',
    load: async () => (await import('./commands/guest.ts')).addGuestCommands,
  },
  {
    name: 'invitation',
    heading: 'Distribution:',
    summary: 'invitations of an application, and those you received',
    load: async () => (await import('./commands/invitation.ts')).addInvitationCommands,
  },
  {
    name: 'plugin',
    heading: 'Distribution:',
    summary: 'create, publish, and manage plugins and their versions',
    load: async () => (await import('./commands/plugin.ts')).addPluginCommands,
  },
  {
    name: 'bindings',
    heading: 'Distribution:',
    summary: 'list the plugins bound to a guest key, as a host does',
    load: async () => (await import('./commands/bindings.ts')).addBindingsCommand,
  },
  {
    name: 'changes',
    heading: 'Distribution:',
    summary: 'show which binding lists change, as it happens',
    load: async () => (await import('./commands/changes.ts')).addChangesCommand,
  },
  {
    name: 'fetch',
    heading: 'Distribution:',
    summary: 'download a plugin and verify its bytes, as a host does',
    load: async () => (await import('./commands/fetch.ts')).addFetchCommand,
  },
  {
    name: 'inspect',
    heading: 'Instrumentation:',
    summary: 'show what a module imports, exports and needs, and whether it is instrumented',
    load: async () => (await import('./commands/inspect.ts')).addInspectCommand,
  },
  {
    name: 'instrument',
    heading: 'Instrumentation:',
    summary: 'instrument a module for tracing, on this machine, without a server',
    load: async () => (await import('./commands/instrument.ts')).addInstrumentCommand,
  },
  {
    name: 'trace',
    heading: 'Instrumentation:',
    summary: 'run a module on this machine and show how long each of its functions took',
    load: async () => (await import('./commands/trace.ts')).addTraceCommand,
  },
  {
    name: 'serve',
    heading: 'Server:',
    summary: 'run the server',
    load: async () => (await import('./commands/serve.ts')).addServeCommand,
  },
  {
    name: 'admin',
    heading: 'Server:',
    summary: "work on the server's data: users, tokens, backups, and checks",
    load: async () => (await import('./commands/admin.ts')).addAdminCommands,
  },
  {
    name: 'status',
    heading: 'Server:',
    summary: 'show the status of the server, for its operators',
    load: async () => (await import('./commands/status.ts')).addStatusCommand,
  },
  {
    name: 'login',
    heading: 'Access:',
    summary: 'log in to a server with your browser',
    load: async () => (await import('./commands/login.ts')).addLoginCommand,
  },
  {
    name: 'logout',
    heading: 'Access:',
    summary: 'log out of a server',
    load: async () => (await import('./commands/logout.ts')).addLogoutCommand,
  },
  {
    name: 'profile',
    heading: 'Access:',
    summary: 'your logins to one or more servers',
    load: async () => (await import('./commands/profile.ts')).addProfileCommands,
  },
  {
    name: 'whoami',
    heading: 'Access:',
    summary: 'show your account and your token',
    load: async () => (await import('./commands/whoami.ts')).addWhoamiCommand,
  },
  {
    name: 'quotas',
    heading: 'Access:',
    summary: 'show the quotas of your account, or of an application, and their use',
    load: async () => (await import('./commands/quotas.ts')).addQuotasCommand,
  },
  {
    name: 'token',
    heading: 'Access:',
    summary: 'access tokens for the distribution API',
    load: async () => (await import('./commands/token.ts')).addTokenCommands,
  },
  {
    name: 'api-key',
    heading: 'Access:',
    summary: 'API keys for the instrumentation endpoint',
    load: async () => (await import('./commands/api-key.ts')).addApiKeyCommands,
  },
  {
    name: 'doctor',
    heading: 'Help:',
    summary: 'check the installation, the server, and your login',
    load: async () => (await import('./commands/doctor.ts')).addDoctorCommand,
  },
  {
    name: 'completion',
    heading: 'Help:',
    summary: 'complete commands, options, and names in your shell',
    load: async () => (await import('./commands/completion.ts')).addCompletionCommand,
  },
  {
    name: 'help',
    heading: 'Help:',
    summary: 'show help for a command, or on a topic',
    load: async () => (await import('./commands/topics.ts')).addHelpCommand,
  },
];
