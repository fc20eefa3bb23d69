/** `oidc-provider` has no types. This declares what the tests use. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface Account {
    readonly accountId: string;
    claims(): Record<string, unknown>;
  }

  interface Options {
    readonly findAccount: (context: unknown, id: string) => Account;
    readonly [name: string]: unknown;
  }

  export class Provider {
    constructor(issuer: string, options: Options);
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  }
}
