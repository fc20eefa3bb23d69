import process from 'node:process';

export interface Settings {
  readonly url: string;
  readonly token: string;
  readonly extensionPointId: string;
  /** Where plugins are kept, so that this host starts even while there is no server. */
  readonly folder: string;
  /** 0: any free one. */
  readonly port: number;
  /** How long a binding list is fresh where the server can't report changes. */
  readonly maxAgeMs: number;
  /** How long a plugin may take for an answer, in milliseconds. */
  readonly callTimeoutMs: number;
  /** The options of tracing as JSON; without, nothing is traced. */
  readonly trace: string | undefined;
}

/** `quickstart.env` of a demo server has the first three. */
export function readSettings(environment: NodeJS.ProcessEnv = process.env): Settings {
  return {
    url: demand('TENON_URL'),
    token: demand('TENON_TOKEN'),
    extensionPointId: demand('TENON_EXTENSION_POINT_ID'),
    folder: environment.PLUGIN_FOLDER || 'plugins',
    port: Number(environment.PORT || 8400),
    maxAgeMs: Number(environment.MAX_AGE_MS || 1000),
    callTimeoutMs: Number(environment.CALL_TIMEOUT_MS || 1000),
    trace: environment.TRACE || undefined,
  };

  function demand(name: string): string {
    const value = environment[name];
    if (!value) throw new Error(`${name} is not set: set -a; . ./tenon-data/quickstart.env; set +a`);
    return value;
  }
}
