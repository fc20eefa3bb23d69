import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
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
  /** Debian's libraries that it needs. */
  readonly libraries?: readonly string[];
  /** The command that builds it into a folder. */
  readonly build?: (folder: string) => readonly string[];
  /** The command that runs it. */
  readonly run: (folder: string) => readonly string[];
  /** The environment of both. */
  readonly environment?: (folder: string) => Readonly<Record<string, string>>;
}

const example = (...names: readonly string[]) => join(root, 'examples', ...names);

const debianCrates = '/usr/share/cargo/registry';

/** Builds a copy, because Cargo writes a lock file, with Debian's crates, without a network. */
const buildRust = `cp -R .. "$1/source" && cd "$1/source" && exec /usr/bin/cargo build --quiet --offline --target-dir "$1/target" \\
  --config 'source.crates-io.replace-with="debian"' --config 'source.debian.directory="${debianCrates}"'`;

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
  {
    name: 'Rust',
    source: 'host-rust/src/main.rs',
    programs: ['/usr/bin/cargo', '/usr/bin/rustc'],
    libraries: ['base64-0.13.0', 'serde_json-1.0.87', 'sha2-0.10.5', 'ureq-2.6.2'].map((crate) =>
      join(debianCrates, crate),
    ),
    build: (folder) => ['/bin/sh', '-ec', buildRust, 'sh', folder],
    run: (folder) => [join(folder, 'target', 'debug', 'host')],
    environment: (folder) => ({ CARGO_HOME: join(folder, 'cargo'), RUSTC: '/usr/bin/rustc' }),
  },
];

/**
 * Returns why a host can't be tested here; `false` if it can.
 *
 * @throws Error if the run requires all compilers
 */
export function skipReason({ programs, libraries = [] }: HostLanguage): string | false {
  const missing = [
    ...programs.filter((program) => spawnSync(program, ['--version']).error !== undefined),
    ...libraries.filter((library) => !existsSync(library)),
  ];
  if (missing.length === 0) return false;
  if (process.env.COMPILERS_REQUIRED === 'yes') throw new Error(`This run needs ${missing.join(', ')}`);
  return `needs ${missing.join(', ')}`;
}
