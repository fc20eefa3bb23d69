import { InstrumentError, instrument, listFunctions } from '@tenon/instrument';
import { createBoundedDemangler } from '../demangle.ts';
import { optionsOf } from './choice.ts';
import { createFunctionFinder } from './find-functions.ts';
import { buffersOf, createFunctionTable } from './function-table.ts';
import type { Answered, Asked, LookQuestion } from './messages.ts';
import { openModule } from './open-module.ts';

/*
 * Looks at one module and instruments it, apart from the page, which goes on meanwhile and can end it. It runs nothing of the module.
 */

type Answer = { readonly answer: unknown; readonly transfer?: ArrayBuffer[] };

/** Answers questions about the module that was opened last. */
function createLook(): (question: LookQuestion) => Answer {
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
        const { functions } = listFunctions(bytes, optionsOf(question.choice));
        return { answer: { tracedFunctions: functions.filter(({ isTraced }) => isTraced).length } };
      }
      case 'instrument':
        return { answer: instrument(bytes, optionsOf(question.choice)) };
    }
  };
}

const look = createLook();

addEventListener('message', ({ data: { id, question } }: MessageEvent<Asked<LookQuestion>>) => {
  try {
    const { answer, transfer = [] } = look(question);
    postMessage({ id, answer } satisfies Answered, { transfer });
  } catch (error) {
    postMessage({ id, fault: inWords(error) } satisfies Answered);
  }
});

function inWords(error: unknown): string {
  if (error instanceof RangeError && !(error instanceof InstrumentError)) return 'There is not enough memory for it.';
  return error instanceof Error ? error.message : String(error);
}
