import type { FlameGraphData } from '../data.ts';
import type { Frames } from '../frames.ts';
import { countOf, formatDuration, formatPages, formatShare, visible } from '../words.ts';

/** Tells what is known of a frame: a heading, then named figures. */
export interface Description {
  readonly name: string;
  readonly figures: readonly (readonly [string, string])[];
  /** Why it failed, as far as it did. */
  readonly failure: string | undefined;
}

const maxAttributes = 12;

/** What is said of a frame. */
export function describeFrame(
  data: FlameGraphData,
  frames: Frames,
  frame: number,
  wholeNano: number,
  isMerged: boolean,
): Description {
  const name = frames.name[frame] as number;
  const total = frames.total[frame] as number;
  const self = frames.self[frame] as number;
  const figures: [string, string][] = [];
  if (isMerged) figures.push(['calls', countOf(frames.calls[frame] as number, 'call')]);
  figures.push(['time', `${formatDuration(total)} (${formatShare(total, wholeNano)})`]);
  figures.push(['self', `${formatDuration(self)} (${formatShare(self, wholeNano)})`]);
  const leftOut = frames.leftOutCalls[frame] as number;
  if (leftOut > 0) {
    const time = formatDuration(frames.leftOutTime[frame] as number);
    figures.push(['in it, too short for spans', `${countOf(leftOut, 'call')}, ${time}`]);
  }
  const pages = frames.pages[frame] as number;
  if (pages > 0) figures.push(['memory', `+${formatPages(pages)}`]);
  if (!isMerged) figures.push(['begins at', formatDuration(data.start[frame] as number)]);
  const rawName = data.rawNames[name];
  if (typeof rawName === 'string') figures.push(['in the module', visible(rawName)]);
  if (!isMerged) figures.push(...attributesOf(data, frame));
  return {
    name: visible(data.names[name] as string),
    figures,
    failure: failureOf(data, frames, frame, isMerged),
  };
}

function attributesOf(data: FlameGraphData, frame: number): [string, string][] {
  const entries = data.attributes.find(([span]) => span === frame)?.[1] ?? [];
  const shown = entries.slice(0, maxAttributes).map(([key, value]): [string, string] => [visible(key), visible(value)]);
  return entries.length > maxAttributes ? [...shown, ['…', `${entries.length - maxAttributes} more`]] : shown;
}

function failureOf(data: FlameGraphData, frames: Frames, frame: number, isMerged: boolean): string | undefined {
  const failures = frames.failures[frame] as number;
  if (failures === 0) return undefined;
  if (isMerged) return `${countOf(failures, 'call')} failed`;
  const message = data.failures.find(([span]) => span === frame)?.[1] ?? '';
  return message === '' ? 'failed' : `failed: ${visible(message)}`;
}
