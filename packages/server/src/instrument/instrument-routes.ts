import { instrumentationQuery, instrumentationReport } from '@tenon/protocol';
import { instrumentationReportExample } from '../http/examples.ts';
import { disconnectSignal } from '../http/reply.ts';
import { type Route, routeTagged } from '../http/route.ts';
import { instrumentBody } from './instrument-body.ts';

const route = routeTagged('Instrumentation');

export const instrumentRoutes: readonly Route[] = [
  route('POST', '/instrument', {
    access: { kind: 'apiKey' },
    area: 'instrumentation',
    query: instrumentationQuery,
    body: instrumentBody,
    headers: ({ version }) => ({ 'tenon-version': version }),
    id: 'instrumentModule',
    summary: 'Instrument a module',
    description:
      'Without `config`, every function is traced. The fields may be in any order, with or without file names and ' +
      'content types. With `answer=report`, the response is a report on the instrumentation, with all functions, ' +
      'instead of the module. The server stores and logs nothing of the request body.',
    responses: {
      200: {
        description: 'the instrumented module',
        contentType: 'application/wasm',
        orJson: { schema: instrumentationReport, example: instrumentationReportExample },
        headers: {
          'instrumented-functions': 'the number of traced functions',
          'instrument-total-functions': "the number of the module's functions, including imported ones",
          'instrument-added-imports':
            'the names of the added imports, separated by commas; empty if the output equals the input',
          'instrument-notes':
            'a JSON array of ASCII strings, at most 4 KiB; the last one counts the omitted notes, if any',
          'tenon-version': 'the version of the instrumenter',
        },
      },
    },
    errors: [
      'not_wasm',
      'component_not_supported',
      'invalid_module',
      'unsupported_feature',
      'already_instrumented',
      'relocatable_object',
      'module_too_complex',
    ],
    handle: async ({ workers }, { query, body, auth }, reply) => {
      const jobOptions = { fairnessKey: auth.apiKey.userId, signal: disconnectSignal(reply.response) };
      const { wasm, config, options } = body;
      if (query.answer === 'report') {
        const json = await workers.report(wasm, { config, options }, jobOptions);
        return reply.header('content-type', 'application/json').send(json);
      }
      const { bytes, notes, ...report } = await workers.instrument(wasm, { config, options }, jobOptions);
      return reply
        .header('content-type', 'application/wasm')
        .header('instrumented-functions', String(report.tracedFunctions))
        .header('instrument-total-functions', String(report.totalFunctions))
        .header('instrument-added-imports', report.addedImports.join(', '))
        .header('instrument-notes', notesHeader(notes))
        .send(bytes);
    },
  }),
];

const maxNotesBytes = 4096;

/**
 * Serializes notes as an ASCII JSON array of at most 4 KiB, for a response header. If not all notes fit, the last entry counts the
 * omitted ones.
 */
export function notesHeader(notes: readonly string[]): string {
  const entries = notes.map((note) => asciiJson(note));
  const all = `[${entries.join(',')}]`;
  if (all.length <= maxNotesBytes) return all;
  let text = '[';
  let omitted = entries.length;
  for (const entry of entries) {
    if (`${text}${entry},${omittedNote(omitted)}]`.length > maxNotesBytes) break;
    text += `${entry},`;
    omitted--;
  }
  return `${text}${omittedNote(omitted)}]`;
}

function omittedNote(count: number): string {
  return JSON.stringify(`${count} more ${count === 1 ? 'note was' : 'notes were'} left out`);
}

function asciiJson(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
