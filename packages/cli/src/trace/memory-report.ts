import type { HeapPath, HeapProfile } from '@tenon/trace';
import { count, formatFigures, formatNumber, formatSize, printable, type Style } from '../text.ts';

/** The innermost functions of a path in one line. */
const maxShownPath = 6;

/** The memory of a run: totals, the functions that allocated the most, and the paths whose allocations were not freed. */
export function formatMemory(heap: HeapProfile, top: number, style: Style): string {
  const { allocations, allocatedBytes, frees, liveAllocations, liveBytes, instances } = heap;
  const peakBytes = instances.reduce((most, instance) => Math.max(most, instance.peakBytes), 0);
  const whose = instances.length > 1 ? ` of ${count(instances.length, 'instance')}` : '';
  const ofOne = instances.length > 1 ? ' of one' : '';
  const totals = [
    `memory${whose}: ${formatSize(peakBytes)} at the peak${ofOne}`,
    `${count(allocations, 'allocation')} (${formatSize(allocatedBytes)})`,
    `${formatNumber(frees)} freed`,
    `${formatNumber(liveAllocations)} live at the end (${formatSize(liveBytes)})`,
  ];
  const parts = [`${style.bold(totals.join(', '))}\n`];
  if (top > 0 && allocations > 0) parts.push(formatCallers(heap.paths, top, style));
  if (top > 0 && liveAllocations > 0) parts.push(formatLeaks(heap.paths, top, style));
  parts.push(notesOn(heap));
  return parts.filter((part) => part !== '').join('\n');
}

interface Caller {
  allocations: number;
  allocatedBytes: number;
  liveBytes: number;
}

/** The functions that call allocators, by the bytes that they allocated. */
function formatCallers(paths: readonly HeapPath[], top: number, style: Style): string {
  const callers = new Map<string, Caller>();
  for (const { path, allocations, allocatedBytes, liveBytes } of paths) {
    const name = path.at(-2)?.name ?? hostName;
    const caller = callers.get(name) ?? { allocations: 0, allocatedBytes: 0, liveBytes: 0 };
    caller.allocations += allocations;
    caller.allocatedBytes += allocatedBytes;
    caller.liveBytes += liveBytes;
    callers.set(name, caller);
  }
  const rows = [...callers]
    .sort(([, one], [, other]) => other.allocatedBytes - one.allocatedBytes)
    .slice(0, top)
    .map(([name, { allocations, allocatedBytes, liveBytes }]) => [
      formatSize(allocatedBytes),
      formatNumber(allocations),
      liveBytes === 0 ? '' : formatSize(liveBytes),
      printable(name),
    ]);
  const rest = callers.size > top ? `… and ${count(callers.size - top, 'more function')}; --top shows more\n` : '';
  return `${formatFigures(['allocated', 'calls', 'live', 'function'], rows, style)}${rest}`;
}

const hostName = '(host)';

function formatLeaks(paths: readonly HeapPath[], top: number, style: Style): string {
  const leaks = paths.filter(({ liveAllocations }) => liveAllocations > 0);
  const rows = leaks
    .toSorted((one, other) => other.liveBytes - one.liveBytes)
    .slice(0, top)
    .map(({ path, liveAllocations, liveBytes }) => [
      formatSize(liveBytes),
      formatNumber(liveAllocations),
      printable(pathText(path)),
    ]);
  const rest = leaks.length > top ? `… and ${count(leaks.length - top, 'more path')}; --top shows more\n` : '';
  return `${formatFigures(['live', 'count', 'not freed, by call path'], rows, style)}${rest}`;
}

function pathText(path: HeapPath['path']): string {
  const names = path.slice(-maxShownPath).map(({ name }) => name);
  return [...(path.length > maxShownPath ? ['…'] : path.length < 2 ? [hostName] : []), ...names].join(' › ');
}

function notesOn({ failures, unknownFrees, dropped }: HeapProfile): string {
  const notes: string[] = [];
  if (failures > 0) notes.push(`${count(failures, 'allocation')} failed.`);
  if (unknownFrees > 0) notes.push(`${count(unknownFrees, 'free')} of memory whose allocation was not traced.`);
  if (dropped.allocations > 0)
    notes.push(`${count(dropped.allocations, 'allocation')} not counted: too many are live.`);
  if (dropped.paths > 0) notes.push(`${count(dropped.paths, 'call path')} shortened: too many.`);
  return notes.map((text) => `note: ${text}\n`).join('');
}

/** The memory for `--json`. */
export function memoryAsJson(heap: HeapProfile): unknown {
  const { peakTimeUnixNano, instances, ...rest } = heap;
  return { ...rest, peakTimeUnixNano: peakTimeUnixNano === undefined ? null : String(peakTimeUnixNano) };
}
