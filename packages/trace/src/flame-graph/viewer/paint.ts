import { axisMarks, formatMark } from '../../format.ts';
import type { Matches } from '../find.ts';
import { type Frames, firstEndingAfter, type Window } from '../frames.ts';
import type { Palette } from './palette.ts';

/** Sizes in CSS pixels. */
export const rowHeight = 20;
export const axisHeight = 22;
export const memoryHeight = 56;
const fontSize = 12;
const padding = 4;
/** Narrower frames are drawn together with their neighbours. */
const thinnest = 1;
const narrowestText = 28;

/** The input of painting. */
export interface PaintInput {
  readonly frames: Frames;
  /** The label of a frame, by name. */
  readonly labels: readonly string[];
  /** The colour of a frame, by name: a position among the palette's. */
  readonly colours: Int32Array;
  readonly window: Window;
  readonly matches: Matches | undefined;
  readonly selected: number;
  readonly hovered: number;
}

export interface Surface {
  readonly context: CanvasRenderingContext2D;
  readonly palette: Palette;
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  readonly font: string;
  /** The width of one character. */
  readonly characterWidth: number;
}

/** The canvas's font, in which all characters of Latin script have the same width. */
export function measureFont(
  context: CanvasRenderingContext2D,
  family: string,
): Pick<Surface, 'font' | 'characterWidth'> {
  const font = `${fontSize}px ${family}`;
  context.font = font;
  return { font, characterWidth: context.measureText('0123456789').width / 10 };
}

/**
 * Paints the rows that are seen. What it costs depends on the pixels and not on the frames: what is thinner than a pixel is
 * skipped by a binary search.
 *
 * @param top the first row's distance from the upper edge; what is above `clipTop` is covered by other things
 */
export function paintRows(surface: Surface, input: PaintInput, top: number, clipTop: number): void {
  const { context, width, height } = surface;
  context.save();
  context.beginPath();
  context.rect(0, clipTop, width, height - clipTop);
  context.clip();
  context.font = surface.font;
  context.textBaseline = 'middle';
  const first = Math.max(0, Math.floor((clipTop - top) / rowHeight));
  const last = Math.min(input.frames.rows.length - 1, Math.floor((height - top) / rowHeight));
  for (let row = first; row <= last; row++) paintRow(surface, input, row, top + row * rowHeight);
  context.restore();
}

function paintRow(surface: Surface, input: PaintInput, rowNumber: number, y: number): void {
  const { frames, window, matches } = input;
  const row = frames.rows[rowNumber] as Int32Array;
  const scale = surface.width / (window.to - window.from);
  for (let at = firstEndingAfter(row, frames.to, window.from); at < row.length; ) {
    const frame = row[at] as number;
    const left = ((frames.from[frame] as number) - window.from) * scale;
    if (left > surface.width) return;
    const right = ((frames.to[frame] as number) - window.from) * scale;
    if (right - left >= thinnest) {
      paintFrame(surface, input, frame, Math.max(left, -1), Math.min(right, surface.width + 1), y);
      at += 1;
      continue;
    }
    // All that ends within this pixel is one sliver.
    const next = Math.max(at + 1, firstEndingAfter(row, frames.to, window.from + (left + thinnest) / scale, at));
    const before = matches?.before[rowNumber];
    const isMatch = before === undefined || (before[next] as number) > (before[at] as number);
    paintSliver(surface, input, frame, left, y, isMatch);
    at = next;
  }
}

function paintSliver(surface: Surface, input: PaintInput, frame: number, x: number, y: number, isMatch: boolean): void {
  const { context, palette } = surface;
  const colour = input.colours[input.frames.name[frame] as number] as number;
  context.fillStyle = isMatch ? (palette.frames[colour] as string) : palette.faded;
  context.fillRect(x, y, thinnest, rowHeight - 1);
}

function paintFrame(surface: Surface, input: PaintInput, frame: number, left: number, right: number, y: number): void {
  const { context, palette } = surface;
  const { frames, matches, colours, labels } = input;
  const name = frames.name[frame] as number;
  const isFaded = matches !== undefined && matches.isMatch[frame] !== 1;
  const gap = right - left > 3 ? 1 : 0;
  context.fillStyle = isFaded ? palette.faded : (palette.frames[colours[name] as number] as string);
  context.fillRect(left, y, right - left - gap, rowHeight - 1);
  if ((frames.failures[frame] as number) > 0) {
    context.fillStyle = palette.failure;
    context.fillRect(left, y + rowHeight - 4, right - left - gap, 3);
  }
  if (frame === input.selected || frame === input.hovered) {
    context.strokeStyle = frame === input.selected ? palette.ink : palette.soft;
    context.lineWidth = 2;
    context.strokeRect(left + 1, y + 1, Math.max(right - left - gap - 2, 1), rowHeight - 3);
  }
  if (right - left < narrowestText) return;
  context.fillStyle = isFaded ? palette.fadedInk : palette.frameInk;
  const textLeft = Math.max(left, 0) + padding;
  const text = fitted(surface, labels[name] as string, right - textLeft - padding);
  context.fillText(text, textLeft, y + rowHeight / 2);
}

/** As much of a text as there is room for. */
function fitted({ context, characterWidth }: Surface, text: string, room: number): string {
  const most = Math.floor(room / characterWidth);
  // Longer texts are cut before they are measured: names may have thousands of characters.
  const isPlain = /^[\u0020-\u007e]*$/.test(text.slice(0, most + 1));
  if (isPlain) return text.length <= most ? text : `${text.slice(0, Math.max(most - 1, 0))}…`;
  let cut = text.slice(0, most + 1);
  if (cut.length === text.length && context.measureText(cut).width <= room) return cut;
  while (cut.length > 0 && context.measureText(`${cut}…`).width > room) cut = cut.slice(0, -1);
  return `${cut}…`;
}

/** Paints times above the rows. */
export function paintAxis(surface: Surface, window: Window): void {
  const { context, palette, width, height } = surface;
  context.fillStyle = palette.ground;
  context.fillRect(0, 0, width, axisHeight);
  context.font = surface.font;
  context.textBaseline = 'middle';
  const scale = width / (window.to - window.from);
  const { marks, step } = axisMarks(window.from, window.to, Math.floor(width / 110));
  for (const mark of marks) {
    const x = Math.round((mark - window.from) * scale) + 0.5;
    context.strokeStyle = palette.line;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x, 4);
    context.lineTo(x, height);
    context.stroke();
    context.fillStyle = palette.soft;
    context.fillText(formatMark(mark, step), x + 4, axisHeight / 2);
  }
}

/** Paints a dashed line where a pause was cut short. */
export function paintCollapsedGaps(surface: Surface, window: Window, collapsedGaps: readonly number[]): void {
  const { context, palette, width, height } = surface;
  const scale = width / (window.to - window.from);
  context.save();
  context.strokeStyle = palette.soft;
  context.lineWidth = 1;
  context.setLineDash([3, 4]);
  context.beginPath();
  let drawnX = -thinnest;
  for (const gap of collapsedGaps) {
    const x = Math.round((gap - window.from) * scale) + 0.5;
    if (x - drawnX < thinnest || x > width) continue;
    drawnX = x;
    context.moveTo(x, axisHeight);
    context.lineTo(x, height);
  }
  context.stroke();
  context.restore();
}

/** Memory over time: what there is from each moment on. */
export interface MemorySteps {
  /** Places, in nanoseconds from the left edge, in order. */
  readonly at: Float64Array;
  /** Pages from there on. */
  readonly pages: Float64Array;
  /** Pages before the first of them. */
  readonly before: number;
}

/** Paints memory as steps, between `top` and `top + memoryHeight`. */
export function paintMemory(surface: Surface, steps: MemorySteps, window: Window, top: number, label: string): void {
  const { context, palette, width } = surface;
  const { at, pages, before } = steps;
  context.fillStyle = palette.ground;
  context.fillRect(0, top, width, memoryHeight);
  const most = Math.max(before, pages.at(-1) ?? 0, 1);
  const bottom = top + memoryHeight - 4;
  const yOf = (value: number) => bottom - (value / most) * (memoryHeight - 24);
  const scale = width / (window.to - window.from);
  const line = new Path2D();
  let y = yOf(before);
  line.moveTo(-2, y);
  let drawnX = -2;
  for (let step = 0; step < at.length; step++) {
    const x = Math.min(Math.max(((at[step] as number) - window.from) * scale, -2), width + 2);
    // Many steps within a pixel are one.
    if (x - drawnX >= 0.5) {
      line.lineTo(drawnX, y);
      line.lineTo(x, y);
      drawnX = x;
    }
    y = yOf(pages[step] as number);
  }
  line.lineTo(drawnX, y);
  line.lineTo(width + 2, y);
  const area = new Path2D(line);
  area.lineTo(width + 2, bottom + 8);
  area.lineTo(-2, bottom + 8);
  context.save();
  context.beginPath();
  context.rect(0, top, width, memoryHeight);
  context.clip();
  context.fillStyle = palette.memory;
  context.fill(area);
  context.strokeStyle = palette.memoryLine;
  context.lineWidth = 1.5;
  context.stroke(line);
  context.font = surface.font;
  context.textBaseline = 'middle';
  context.fillStyle = palette.soft;
  context.fillText(label, padding, top + 9);
  context.restore();
  context.fillStyle = palette.line;
  context.fillRect(0, top + memoryHeight - 1, width, 1);
}
