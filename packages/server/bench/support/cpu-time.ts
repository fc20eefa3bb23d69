import { readdirSync, readFileSync } from 'node:fs';

/** In which Linux counts the time of processes. */
const tickUs = 10_000;

/**
 * The time, in microseconds, that processes have worked, with all that they have started: in steps of a hundredth of a second.
 * `undefined` where the system doesn't tell it as Linux does.
 */
export function cpuTimeUs(pids: readonly number[]): number | undefined {
  const processes = new Map<number, { readonly parent: number; readonly ticks: number }>();
  try {
    for (const name of readdirSync('/proc')) {
      const pid = Number(name);
      const found = pid > 0 ? readTimes(pid) : undefined;
      if (found !== undefined) processes.set(pid, found);
    }
  } catch {
    return undefined;
  }
  const isOfThem = (pid: number): boolean => {
    if (pids.includes(pid)) return true;
    const parent = processes.get(pid)?.parent ?? 0;
    return parent > 0 && isOfThem(parent);
  };
  let ticks = 0;
  for (const [pid, one] of processes) if (isOfThem(pid)) ticks += one.ticks;
  return ticks * tickUs;
}

/** See proc_pid_stat(5). @returns `undefined` for a process that has gone meanwhile */
function readTimes(pid: number): { parent: number; ticks: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' '); // from the third on; the name before may hold anything
    const [, parent] = fields;
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0); // its own, and of children that ended
    return { parent: Number(parent), ticks };
  } catch {
    return undefined;
  }
}
