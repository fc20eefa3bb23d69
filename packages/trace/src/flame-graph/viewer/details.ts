import { countOf, formatDuration, formatPages, formatShare } from '../../format.ts';
import { visible } from '../../unsafe-characters.ts';
import type { FlameGraphData } from '../data.ts';
import type { Frames } from '../frames.ts';

/** The details of a frame: a heading, then named values. */
export interface Description {
  readonly name: string;
  readonly stats: readonly (readonly [string, string])[];
  /** Why it failed, as far as it did. */
  readonly failure: string | undefined;
}

const maxAttributes = 12;

/** The details of a frame. */
export function describeFrame(
  data: FlameGraphData,
  frames: Frames,
  frame: number,
  wholeNano: number,
  isLeftHeavy: boolean,
): Description {
  const name = frames.name[frame] as number;
  const total = frames.total[frame] as number;
  const self = frames.self[frame] as number;
  const stats: [string, string][] = [];
  if (isLeftHeavy) stats.push(['calls', countOf(frames.calls[frame] as number, 'call')]);
  stats.push(['time', `${formatDuration(total)} (${formatShare(total, wholeNano)})`]);
  stats.push(['self', `${formatDuration(self)} (${formatShare(self, wholeNano)})`]);
  const folded = frames.foldedCalls[frame] as number;
  if (folded > 0) {
    const time = formatDuration(frames.foldedTime[frame] as number);
    stats.push(['in it, too short for spans', `${countOf(folded, 'call')}, ${time}`]);
  }
  const pages = frames.pages[frame] as number;
  if (pages > 0) stats.push(['memory', `+${formatPages(pages)}`]);
  if (!isLeftHeavy) stats.push(['begins at', formatDuration(data.start[frame] as number)]);
  const rawName = data.rawNames[name];
  if (typeof rawName === 'string') stats.push(['in the module', visible(rawName)]);
  const source = data.sources[name];
  if (typeof source === 'string') stats.push(['source', visible(source)]);
  if (!isLeftHeavy) stats.push(...attributesOf(data, frame));
  return {
    name: visible(data.names[name] as string),
    stats,
    failure: failureOf(data, frames, frame, isLeftHeavy),
  };
}

function attributesOf(data: FlameGraphData, frame: number): [string, string][] {
  const entries = data.attributes.find(([span]) => span === frame)?.[1] ?? [];
  const shown = entries.slice(0, maxAttributes).map(([key, value]): [string, string] => [visible(key), visible(value)]);
  return entries.length > maxAttributes ? [...shown, ['…', `${entries.length - maxAttributes} more`]] : shown;
}

function failureOf(data: FlameGraphData, frames: Frames, frame: number, isLeftHeavy: boolean): string | undefined {
  const failures = frames.failures[frame] as number;
  if (failures === 0) return undefined;
  if (isLeftHeavy) return `${countOf(failures, 'call')} failed`;
  const message = data.failures.find(([span]) => span === frame)?.[1] ?? '';
  return message === '' ? 'failed' : `failed: ${visible(message)}`;
}
