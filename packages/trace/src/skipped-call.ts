import { type CallStack, column, flag, growRecords, recordColumn, recordStride, stride } from './call-stack.ts';
import { closeFrame, idAt, openFrame, type RecordingContext, setFlag } from './frames.ts';

/**
 * Records a span for a call that the module reports when it ends: the call was skipped at its start. Spans within it were
 * recorded as spans of its caller, and move into it.
 */
export function recordSkippedCall(
  stack: CallStack,
  context: RecordingContext,
  func: number,
  earliestStart: number,
  end: number,
): void {
  const { limits, dropped, counters, adaptive, minDurationMs } = context;
  if (!(end - earliestStart >= minDurationMs)) return;
  const { frames, top } = stack;
  if (top === 0) {
    if (!openFrame(stack, context, func, earliestStart, 0)) return;
    counters?.enter(func);
    closeFrame(stack, context, end);
    adaptive?.onSkippedSpan(func, end);
    return;
  }
  const estimated = Math.max(earliestStart, frames[top + column.start] as number);
  if (!(end - estimated >= minDurationMs)) return;
  // It and the open calls need room.
  if (stack.recordCount + 1 + top / stride > limits.spans) {
    dropped.spans++;
    return;
  }
  const parentId = idAt(stack, top);
  const id = ++stack.lastId;
  const { time: spanTime, start } = moveSpans(stack, parentId, id, estimated);
  const duration = end - start;
  counters?.enter(func);
  counters?.exit(func, duration, duration - spanTime);
  const at = stack.recordCount * recordStride;
  if (at >= stack.records.length) growRecords(stack);
  const { records } = stack;
  records.fill(0, at, at + recordStride);
  records[at + recordColumn.start] = start;
  records[at + recordColumn.end] = end;
  records[at + recordColumn.func] = func;
  records[at + recordColumn.id] = id;
  records[at + recordColumn.parentId] = parentId;
  stack.recordCount++;
  frames[top + column.spanTime] = (frames[top + column.spanTime] as number) + duration - spanTime;
  setFlag(stack, top, flag.needsSlowExit);
  adaptive?.onSkippedSpan(func, end);
}

/** The clock of an instance has an offset, which costs precision. */
const clockErrorMs = 1e-6;

/** Moves the spans that end after `estimated` from one parent to another. Returns their time, and the first start of all. */
function moveSpans({ records, recordCount }: CallStack, fromId: number, toId: number, estimated: number) {
  let time = 0;
  let start = estimated;
  for (let at = (recordCount - 1) * recordStride; at >= 0; at -= recordStride) {
    const end = records[at + recordColumn.end] as number;
    if (end <= estimated + clockErrorMs) break;
    if (records[at + recordColumn.parentId] !== fromId) continue;
    records[at + recordColumn.parentId] = toId;
    const spanStart = records[at + recordColumn.start] as number;
    time += end - spanStart;
    start = Math.min(start, spanStart);
  }
  return { time, start };
}
