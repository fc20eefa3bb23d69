import { readdirSync, readFileSync } from 'node:fs';

/** Resolution of the CPU times in `/proc`. */
const tickUs = 10_000;

interface ProcessStat {
  readonly parent: number;
  readonly ticks: number;
}

/**
 * The CPU time of processes and all their descendants in microseconds, with a resolution of 10 ms.
 *
 * @returns `undefined` without Linux's `/proc`
 */
export function cpuTimeUs(pids: readonly number[]): number | undefined {
  const tree = processTree(pids);
  if (tree === undefined) return undefined;
  let ticks = 0;
  for (const stat of tree.values()) ticks += stat.ticks;
  return ticks * tickUs;
}

/**
 * The memory of processes and all their descendants in bytes. Pages that processes share count once (PSS).
 *
 * @returns `undefined` without Linux's `/proc`
 */
export function memoryBytes(pids: readonly number[]): number | undefined {
  const tree = processTree(pids);
  if (tree === undefined) return undefined;
  let kib = 0;
  for (const pid of tree.keys()) kib += readPssKib(pid);
  return kib * 1024;
}

function processTree(pids: readonly number[]): ReadonlyMap<number, ProcessStat> | undefined {
  const all = new Map<number, ProcessStat>();
  try {
    for (const name of readdirSync('/proc')) {
      const pid = Number(name);
      const stat = pid > 0 ? readStat(pid) : undefined;
      if (stat !== undefined) all.set(pid, stat);
    }
  } catch {
    return undefined;
  }
  const isDescendant = (pid: number): boolean => {
    if (pids.includes(pid)) return true;
    const parent = all.get(pid)?.parent ?? 0;
    return parent > 0 && isDescendant(parent);
  };
  return new Map([...all].filter(([pid]) => isDescendant(pid)));
}

/** See proc_pid_stat(5). @returns `undefined` for a process that has exited */
function readStat(pid: number): ProcessStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' '); // from the third field on; the name may contain spaces
    const [, parent] = fields;
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0); // its own, and of reaped children
    return { parent: Number(parent), ticks };
  } catch {
    return undefined;
  }
}

function readPssKib(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
