import type { BodyContext } from './body-context.ts';
import { u32Length } from './byte-writer.ts';
import type { ProgressListener } from './config.ts';
import { limitExceeded } from './errors.ts';
import { maxFunctionBodyBytes } from './limits.ts';
import { rewriteBody } from './rewrite-body.ts';

/** After how many bytes of code the caller hears of it again. */
const progressBytes = 1_048_576;

/**
 * Appends all bodies. One that would pass the engines' limit only because of tracing stays untraced, as
 * `findings.leftUntraced` says. False if the layout assumed something that the code contradicts.
 */
export function rewriteBodies(context: BodyContext, bounds: Uint32Array, onProgress?: ProgressListener): boolean {
  const { importCount, traced } = context.layout;
  const codeStart = bounds[0] ?? 0;
  const codeEnd = bounds.at(-1) ?? 0;
  let reportAt = codeStart + progressBytes;
  for (let body = 0; body < bounds.length / 2; body++) {
    const start = bounds[2 * body] as number;
    const end = bounds[2 * body + 1] as number;
    const functionIndex = importCount + body;
    const isTraced = traced[functionIndex] === 1;
    if (!rewriteWithinLimit(context, functionIndex, start, end, isTraced)) return false;
    if (onProgress !== undefined && end >= reportAt) {
      onProgress(end - codeStart, codeEnd - codeStart);
      reportAt = end + progressBytes;
    }
  }
  return true;
}

function rewriteWithinLimit(
  context: BodyContext,
  functionIndex: number,
  start: number,
  end: number,
  isTraced: boolean,
): boolean {
  const { writer, findings, layout } = context;
  const writtenBefore = writer.length;
  if (!rewriteBody(context, functionIndex, start, end, isTraced)) return false;
  const written = writer.length - writtenBefore;
  const size = written - u32Length(written);
  if (size <= maxFunctionBodyBytes) return true;
  if (isTraced) {
    writer.length = writtenBefore;
    findings.leftUntraced.push(functionIndex);
    findings.addedLabels[functionIndex - layout.importCount] = 0;
    return rewriteWithinLimit(context, functionIndex, start, end, false);
  }
  if (end - start > maxFunctionBodyBytes) return true;
  throw limitExceeded('bytes in a function body', size, maxFunctionBodyBytes, start);
}
