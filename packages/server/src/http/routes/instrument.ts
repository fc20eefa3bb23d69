import { instrumentationQuery, instrumentationReport } from '@tenon/protocol';
import { instrumentBody } from '../bodies/instrument-body.ts';
import { goneSignal } from '../client-gone.ts';
import { notesHeader } from '../notes-header.ts';
import { type Route, route } from '../route.ts';
import { instrumentationReportExample } from './examples.ts';

export const instrumentRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/instrument',
    access: { kind: 'apiKey' },
    area: 'instrumentation',
    query: instrumentationQuery,
    body: instrumentBody,
    headers: ({ version }) => ({ 'tenon-version': version }),
    doc: {
      id: 'instrumentModule',
      tag: 'Instrumentation',
      summary: 'Instrument a module (B1)',
      description:
        'Without `config`, every function is traced. The fields may come in any order, with or without file names and ' +
        'content types. `answer=report` asks for a report on what instrumenting the module does, its functions among it, ' +
        'in place of the module. Nothing that is sent is stored or logged.',
      answers: {
        200: {
          description: 'the instrumented module',
          contentType: 'application/wasm',
          orJson: { schema: instrumentationReport, example: instrumentationReportExample },
          headers: {
            'instrumented-functions': 'how many functions are traced',
            'instrument-total-functions': 'how many functions the module has, imported ones included',
            'instrument-added-imports':
              'what the output imports from `dylibso:observe/instrument`, between commas; empty when it is the input',
            'instrument-notes':
              'a JSON array of texts in ASCII, of at most 4 KiB, that ends in a count of those left out',
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
    },
    handle: async ({ workers }, { query, body, admission }, reply) => {
      const asker = { caller: admission.apiKey.userId, signal: goneSignal(reply.response) };
      const { wasm, config, options } = body;
      if (query.answer === 'report') {
        const json = await workers.report(wasm, { config, options }, asker);
        return reply.header('content-type', 'application/json').send(json);
      }
      const { bytes, notes, ...report } = await workers.instrument(wasm, { config, options }, asker);
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
