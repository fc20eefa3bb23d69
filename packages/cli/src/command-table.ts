import type { Command } from './command.ts';
import type { Io } from './io.ts';

/** A command, or a group of subcommands, of tenon. */
export interface CommandEntry {
  readonly name: string;
  readonly alias?: string;
  readonly summary: string;
  /** Imports the command's module, only when the command is used, and returns the function that adds it to the program. */
  readonly load: () => Promise<(program: Command, io: Io) => void>;
}

/** The commands, in the groups and the order of `tenon --help`. */
export const commandGroups: readonly { readonly title: string; readonly commands: readonly CommandEntry[] }[] = [
  {
    title: 'Distribution',
    commands: [
      {
        name: 'app',
        summary: 'applications, which own extension points and invite guests',
        load: async () => (await import('./commands/app.ts')).addAppCommands,
      },
      {
        name: 'extension-point',
        alias: 'ext',
        summary: 'extension points: the interfaces that plugins implement',
        load: async () => (await import('./commands/extension-point.ts')).addExtensionPointCommands,
      },
      {
        name: 'guest',
        summary: 'guests: plugin developers, identified by a guest key',
        load: async () => (await import('./commands/guest.ts')).addGuestCommands,
      },
      {
        name: 'invitation',
        summary: 'invitations of an application, and those you received',
        load: async () => (await import('./commands/invitation.ts')).addInvitationCommands,
      },
      {
        name: 'plugin',
        summary: 'create, publish, and manage plugins and their versions',
        load: async () => (await import('./commands/plugin.ts')).addPluginCommands,
      },
      {
        name: 'roll-out',
        summary: 'versions that reach the guests step by step',
        load: async () => (await import('./commands/roll-out.ts')).addRollOutCommands,
      },
      {
        name: 'bindings',
        summary: 'list the plugins bound to a guest key, as a host does',
        load: async () => (await import('./commands/bindings.ts')).addBindingsCommand,
      },
      {
        name: 'changes',
        summary: 'show which binding lists change, as it happens',
        load: async () => (await import('./commands/changes.ts')).addChangesCommand,
      },
      {
        name: 'webhook',
        summary: "send an application's audit events to URLs",
        load: async () => (await import('./commands/webhook.ts')).addWebhookCommands,
      },
      {
        name: 'usage',
        summary: 'show how often hosts list and fetch plugins, and which versions they run',
        load: async () => (await import('./commands/usage.ts')).addUsageCommand,
      },
      {
        name: 'fetch',
        summary: 'download a plugin and verify its bytes, as a host does',
        load: async () => (await import('./commands/fetch.ts')).addFetchCommand,
      },
      {
        name: 'client-conformance',
        summary: 'test a client in any language against a server that misbehaves',
        load: async () => (await import('./commands/client-conformance.ts')).addClientConformanceCommand,
      },
      {
        name: 'signing-keys',
        summary: 'show the keys with which the server signs publish attestations',
        load: async () => (await import('./commands/signing-keys.ts')).addSigningKeysCommand,
      },
      {
        name: 'bundle',
        summary: 'files with plugins, to carry from one server to another',
        load: async () => (await import('./commands/bundle.ts')).addBundleCommands,
      },
    ],
  },
  {
    title: 'Instrumentation',
    commands: [
      {
        name: 'inspect',
        summary: 'show what a module imports, exports and needs, and whether it is instrumented',
        load: async () => (await import('./commands/inspect.ts')).addInspectCommand,
      },
      {
        name: 'instrument',
        summary: 'instrument a module for tracing, on this machine, without a server',
        load: async () => (await import('./commands/instrument.ts')).addInstrumentCommand,
      },
      {
        name: 'trace',
        summary: 'run a module on this machine and show how long each of its functions took',
        load: async () => (await import('./commands/trace.ts')).addTraceCommand,
      },
      {
        name: 'coverage',
        summary: 'run a module on this machine and show which of its lines have run',
        load: async () => (await import('./commands/coverage.ts')).addCoverageCommand,
      },
    ],
  },
  {
    title: 'Server',
    commands: [
      {
        name: 'serve',
        summary: 'run the server',
        load: async () => (await import('./commands/serve.ts')).addServeCommand,
      },
      {
        name: 'admin',
        summary: "work on the server's data: users, tokens, backups, and checks",
        load: async () => (await import('./commands/admin.ts')).addAdminCommands,
      },
      {
        name: 'status',
        summary: 'show the status of the server, for its operators',
        load: async () => (await import('./commands/status.ts')).addStatusCommand,
      },
    ],
  },
  {
    title: 'Access',
    commands: [
      {
        name: 'login',
        summary: 'log in to a server with your browser',
        load: async () => (await import('./commands/login.ts')).addLoginCommand,
      },
      {
        name: 'logout',
        summary: 'log out of a server',
        load: async () => (await import('./commands/logout.ts')).addLogoutCommand,
      },
      {
        name: 'profile',
        summary: 'your logins to one or more servers',
        load: async () => (await import('./commands/profile.ts')).addProfileCommands,
      },
      {
        name: 'whoami',
        summary: 'show your account and your token',
        load: async () => (await import('./commands/whoami.ts')).addWhoamiCommand,
      },
      {
        name: 'quotas',
        summary: 'show the quotas of your account, or of an application, and their use',
        load: async () => (await import('./commands/quotas.ts')).addQuotasCommand,
      },
      {
        name: 'token',
        summary: 'access tokens for the distribution API',
        load: async () => (await import('./commands/token.ts')).addTokenCommands,
      },
      {
        name: 'api-key',
        summary: 'API keys for the instrumentation endpoint',
        load: async () => (await import('./commands/api-key.ts')).addApiKeyCommands,
      },
    ],
  },
  {
    title: 'Help',
    commands: [
      {
        name: 'docs',
        summary: "open the server's documentation in a browser",
        load: async () => (await import('./commands/docs.ts')).addDocsCommand,
      },
      {
        name: 'open',
        summary: 'open a page of the console in a browser',
        load: async () => (await import('./commands/open.ts')).addOpenCommand,
      },
      {
        name: 'doctor',
        summary: 'check the installation, the server, and your login',
        load: async () => (await import('./commands/doctor.ts')).addDoctorCommand,
      },
      {
        name: 'completion',
        summary: 'complete commands, options, and names in your shell',
        load: async () => (await import('./commands/completion.ts')).addCompletionCommand,
      },
      {
        name: 'help',
        summary: 'show help for a command, or on a topic',
        load: async () => (await import('./commands/topics.ts')).addHelpCommand,
      },
    ],
  },
];
