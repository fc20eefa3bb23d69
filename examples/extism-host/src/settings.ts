import process from 'node:process';
import type { PluginSource } from './fetch-plugin.ts';

/** Reads a variable that `quickstart.env` sets. */
function variable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: set -a; . ./tenon-data/quickstart.env; set +a`);
  return value;
}

export function readSource(): PluginSource {
  return {
    url: variable('TENON_URL'),
    token: variable('TENON_TOKEN'),
    extensionPointId: variable('TENON_EXTENSION_POINT_ID'),
    guestKey: variable('TENON_GUEST_KEY'),
  };
}
