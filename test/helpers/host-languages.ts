import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { root } from './server.ts';

/** An example host in a language. */
export interface HostLanguage {
  readonly name: string;
  /** Its only source, below `examples/`. */
  readonly source: string;
  /** Debian's programs that it needs, by path or name. */
  readonly programs: readonly string[];
  /** The command that builds it into a folder. */
  readonly build?: (folder: string) => readonly string[];
  /** The command that runs it. */
  readonly run: (folder: string) => readonly string[];
  /** The environment of both. */
  readonly environment?: (folder: string) => Readonly<Record<string, string>>;
}

const example = (...names: readonly string[]) => join(root, 'examples', ...names);

export const hostLanguages: readonly HostLanguage[] = [
  {
    name: 'Python',
    source: 'host-python/host.py',
    programs: ['/usr/bin/python3'],
    run: () => ['/usr/bin/python3', example('host-python', 'host.py')],
  },
  {
    name: 'Go',
    source: 'host-go/main.go',
    programs: ['/usr/bin/go'],
    build: (folder) => ['/usr/bin/go', 'build', '-o', join(folder, 'host'), 'main.go'],
    run: (folder) => [join(folder, 'host')],
    environment: (folder) => ({ GOCACHE: join(folder, 'cache'), GOFLAGS: '-mod=mod', GOPROXY: 'off' }),
  },
  {
    name: 'Java',
    source: 'host-java/Host.java',
    programs: ['/usr/bin/java', '/usr/bin/javac'],
    build: (folder) => ['/usr/bin/javac', '-Xlint:all', '-Werror', '-d', folder, 'Host.java'],
    run: (folder) => ['/usr/bin/java', '-XX:TieredStopAtLevel=1', '-cp', folder, 'Host'],
    environment: () => ({ LC_ALL: 'C.UTF-8' }),
  },
];

/**
 * Returns why a host can't be tested here; `false` if it can.
 *
 * @throws Error if the run requires all compilers
 */
export function skipReason({ programs }: HostLanguage): string | false {
  const missing = programs.filter((program) => spawnSync(program, ['--version']).error !== undefined);
  if (missing.length === 0) return false;
  if (process.env.COMPILERS_REQUIRED === 'yes') throw new Error(`This run needs ${missing.join(', ')}`);
  return `needs ${missing.join(', ')}`;
}
