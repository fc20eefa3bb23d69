import { example } from './examples.ts';

/* Examples for the routes of simulations. */

export const simulationInputExample = {
  fixtures: [{ export: 'evaluate', input: '{"formula":"1+1"}', expect: { jsonSubset: { result: 2 } } }],
};

export const simulationExample = {
  id: example.simulationId,
  extensionPointId: example.extensionPointId,
  name: 'basics',
  revision: 1,
  kind: 'fixtures' as const,
  testModule: null,
  mockHost: null,
  mockInputBase64: null,
  fixtures: simulationInputExample.fixtures,
  createdAt: example.time,
  updatedAt: example.time,
};

export const simulationReportExample = {
  name: 'basics',
  revision: null,
  verdict: 'failed' as const,
  detail: null,
  assertions: [{ group: null, name: 'evaluate 1', passed: false, reason: 'the output lacks "result"' }],
  calls: [],
  log: [],
  durationMs: 3.4,
  isCut: false,
  coverage: { functions: { total: 24, covered: 11 }, blocks: { total: 310, covered: 128 } },
};

const callExample = {
  export: 'evaluate',
  input: { text: '1+1', size: 3, sha256: example.contentAddress },
  output: { text: '2', size: 1, sha256: example.contentAddress },
  error: null,
  timeNano: 41_000,
  memoryPages: 2,
  functionCalls: 12,
  hostCalls: [],
};

export const simulationComparisonExample = {
  version: 4,
  against: 3,
  simulations: [
    {
      name: 'basics',
      before: 'passed' as const,
      after: 'passed' as const,
      calls: [{ before: callExample, after: callExample, differs: false, changes: [] }],
      isCut: false,
    },
  ],
};

export const simulationRunExample = {
  id: 'run_01jd3xgx2nf8yb6nd0jx9arxyc' as const,
  state: 'done' as const,
  verdict: 'failed' as const,
  detail: 'The simulation basics failed: evaluate 1 (the output lacks "result")',
  attempts: 1,
  nextAttemptAt: null,
  simulations: [simulationReportExample],
  startedAt: example.time,
  endedAt: example.time,
};

export const testResultExample = {
  _type: 'https://in-toto.io/Statement/v1' as const,
  subject: [{ name: 'https://tenon.example/…/versions/4/content', digest: { sha256: 'e3b0c442'.repeat(8) } }],
  predicateType: 'https://in-toto.io/attestation/test-result/v0.1' as const,
  predicate: {
    result: 'PASSED' as const,
    configuration: [
      {
        name: 'basics/fixtures',
        uri: 'https://tenon.example/…/simulations/basics',
        digest: { sha256: 'e3b0c442'.repeat(8) },
        mediaType: 'application/json',
        annotations: { revision: 1 },
      },
    ],
    url: 'https://tenon.example/…/versions/4/simulation-runs',
    passedTests: ['basics'],
    warnedTests: [],
    failedTests: [],
  },
};

export const simulationTrialExample = {
  objects: [
    {
      pluginId: `${example.extensionPointId}/plugin/${example.userId}/median`,
      name: 'median',
      userName: 'Ada',
      version: 3,
      verdict: 'failed' as const,
      detail: null,
      simulations: [simulationReportExample],
    },
  ],
  isCut: false,
};
