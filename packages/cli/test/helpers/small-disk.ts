import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { makeFolder } from './folder.ts';

/** A file system of a test's own, in a mount namespace of its own: nothing of it is left when the test ends, however it ends. */
export interface SmallDisk {
  /** Where it is, for programs in the namespace. */
  readonly folder: string;
  /** What a program begins with that is to run in the namespace. */
  readonly within: readonly string[];
  /** Where a file of it is for everybody else. */
  readonly outside: (...names: readonly string[]) => string;
  /** Runs a line of the shell in the namespace, in the folder. */
  readonly run: (line: string) => string;
  readonly close: () => Promise<void>;
}

const isRoot = process.getuid?.() === 0;
const unshare = isRoot ? ['--mount'] : ['--user', '--map-root-user', '--mount'];
const enter = isRoot ? ['--mount'] : ['--user', '--preserve-credentials', '--mount'];

const mounts = {
  tmpfs: 'mount -t tmpfs -o size=24m tenon "$1"',
  ext4: 'dd if=/dev/zero of="$1.image" bs=1M count=32 status=none && mkfs.ext4 -q "$1.image" && mount -o loop "$1.image" "$1"',
} as const;

/** Why there can be no such disk here; `false` when there can. */
export function whyNoDisk(kind: keyof typeof mounts): string | false {
  const line = `d=$(mktemp -d) && set -- "$d/m" && mkdir "$1" && ${mounts[kind]}; code=$?; umount "$1"; rm -rf "$d"; exit $code`;
  return spawnSync('unshare', [...unshare, 'sh', '-c', line]).status === 0 ? false : `this user cannot mount ${kind}`;
}

export async function openSmallDisk(kind: keyof typeof mounts): Promise<SmallDisk> {
  const parent = await makeFolder();
  const folder = join(parent.path, 'disk');
  await mkdir(folder);
  const line = `${mounts[kind]} && echo mounted && read -r end`;
  const holder = spawn('unshare', [...unshare, 'sh', '-c', line, 'sh', folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(holder, 'exit');
  await Promise.race([once(holder.stdout, 'data'), ended]);
  if (holder.exitCode !== null) throw new Error(`Cannot mount a ${kind}`);
  const within = ['nsenter', '--target', String(holder.pid), ...enter, '--'];
  return {
    folder,
    within,
    outside: (...names) => join(`/proc/${holder.pid}/root`, folder, ...names),
    run(line) {
      const [command = '', ...args] = [...within, 'sh', '-c', `cd "$1" && ${line}`, 'sh', folder];
      const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
      if (status !== 0) throw new Error(`${line}: ${stderr}`);
      return stdout;
    },
    async close() {
      holder.stdin.end();
      await ended;
      await parent.remove();
    },
  };
}
