import { InstrumentError, instrument, listFunctions } from '@tenon/instrument';
import { createBoundedDemangler } from '../demangle.ts';
import { createFunctionFinder } from './find-functions.ts';
import { buffersOf, createFunctionTable } from './function-table.ts';
import type { Answered, Asked, InspectQuestion } from './messages.ts';
import { openModule } from './open-module.ts';
import { optionsOf } from './selection.ts';

/*
 * Inspects and instruments one module, so that the page stays responsive. It doesn't run the module.
 */

type Answer = { readonly answer: unknown; readonly transfer?: ArrayBuffer[] };

/** Answers questions about the last opened module. */
function createAnswers(): (question: InspectQuestion) => Answer {
  let bytes = new Uint8Array();
  let finder = createFunctionFinder(createFunctionTable([]));
  return (question) => {
    switch (question.kind) {
      case 'open': {
        bytes = new Uint8Array(question.bytes);
        const demangle = createBoundedDemangler(question.demangler, () => performance.now());
        const opened = openModule(bytes, demangle);
        finder = createFunctionFinder(structuredClone(opened.table));
        return { answer: opened, transfer: buffersOf(opened.table) };
      }
      case 'find': {
        const found = finder.find(question.text, question.order);
        return { answer: found, transfer: [found.buffer] };
      }
      case 'count': {
        const { functions } = listFunctions(bytes, optionsOf(question.selection));
        return { answer: { tracedFunctions: functions.filter(({ isTraced }) => isTraced).length } };
      }
      case 'instrument':
        return { answer: instrument(bytes, optionsOf(question.selection)) };
    }
  };
}

const answerTo = createAnswers();

addEventListener('message', ({ data: { id, question } }: MessageEvent<Asked<InspectQuestion>>) => {
  try {
    const { answer, transfer = [] } = answerTo(question);
    postMessage({ id, answer } satisfies Answered, { transfer });
  } catch (error) {
    postMessage({ id, fault: messageOf(error) } satisfies Answered);
  }
});

function messageOf(error: unknown): string {
  if (error instanceof RangeError && !(error instanceof InstrumentError)) return 'There is not enough memory.';
  return error instanceof Error ? error.message : String(error);
}
