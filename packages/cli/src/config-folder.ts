import { posix, win32 } from 'node:path';
import type { Environment } from './environment.ts';

/**
 * The folder of this user's configuration: TENON_CONFIG_DIR, else where the platform has such folders. Variables with a
 * relative path count as unset, as the XDG Base Directory Specification demands.
 *
 * @returns `undefined` where nothing tells: a user without a home has no configuration
 */
export function configFolder(environment: Environment, platform: NodeJS.Platform): string | undefined {
  if (environment.TENON_CONFIG_DIR) return environment.TENON_CONFIG_DIR;
  const { join, isAbsolute } = platform === 'win32' ? win32 : posix;
  const below = (variable: string, ...names: string[]) => {
    const folder = environment[variable];
    return folder && isAbsolute(folder) ? join(folder, ...names, 'tenon') : undefined;
  };
  switch (platform) {
    case 'win32':
      return below('APPDATA') ?? below('USERPROFILE', 'AppData', 'Roaming');
    case 'darwin':
      return below('XDG_CONFIG_HOME') ?? below('HOME', 'Library', 'Application Support');
    default:
      return below('XDG_CONFIG_HOME') ?? below('HOME', '.config');
  }
}
