import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ExtensionPoint, noProvenancePolicy } from '@tenon/protocol';
import { wasmProposals } from '@tenon/protocol/wasm-proposals';
import {
  changeOf,
  draftOf,
  limitsOf,
  numberFault,
  proposalWords,
  rebaseDraft,
  rulesInWords,
  serverLimitFault,
  sizeHint,
} from './rules.ts';

const point = (requiresApproval: boolean, limits: ExtensionPoint['limits']) =>
  ({ requiresApproval, minVersionAgeSeconds: 0, limits, provenance: noProvenancePolicy }) as ExtensionPoint;

const none = { maxModuleBytes: null, maxInitialMemoryPages: null, proposals: null, allowWasi: true };
const some = { maxModuleBytes: 2_000_000, maxInitialMemoryPages: 32, proposals: ['simd' as const], allowWasi: false };

describe('limitsOf()', () => {
  it('gives back what a draft was made of', () => {
    for (const limits of [none, some, { ...some, maxInitialMemoryPages: 0, proposals: [] }]) {
      assert.deepEqual(limitsOf(draftOf(point(true, limits))), limits);
    }
  });

  it('leaves no proposal out while all are allowed', () => {
    const draft = { ...draftOf(point(false, some)), allowsAllProposals: true };
    assert.equal(limitsOf(draft).proposals, null);
  });
});

describe('changeOf()', () => {
  const plan = { steps: [{ percent: 1, holdSeconds: 3600 }], halt: null };
  const planned = { ...point(true, none), rollOut: plan };

  it('has the default plan only if it changed', () => {
    const [without, with_] = [draftOf(point(true, none)), draftOf(planned)];
    assert.deepEqual(changeOf(with_, with_), {});
    assert.deepEqual(changeOf(without, { ...without, plan: with_.plan }), {});
    assert.deepEqual(changeOf(without, { ...without, hasRollOut: true, plan: with_.plan }), { rollOut: plan });
    assert.deepEqual(changeOf(with_, { ...with_, hasRollOut: false }), { rollOut: null });
  });

  it('keeps a plan of another member, unless the draft has its own', () => {
    const [first, now] = [draftOf(point(true, none)), draftOf(planned)];
    assert.equal(rebaseDraft(first, { ...first, requiresApproval: false }, now).hasRollOut, true);
    const mine = { ...first, hasRollOut: true };
    assert.deepEqual(rebaseDraft(first, mine, now).plan, mine.plan);
  });
});

describe('numberFault()', () => {
  it('takes whole numbers from the minimum on, and nothing', () => {
    for (const text of ['', '  ', '8', '400000']) assert.equal(numberFault(text, 8), undefined, text);
    for (const text of ['7', '-1', '1.5', 'x', '1e400']) assert.notEqual(numberFault(text, 8), undefined, text);
  });
});

describe('serverLimitFault()', () => {
  it('names the limit of the server to larger modules only', () => {
    assert.equal(serverLimitFault('67108865', 67_108_864), 'The server’s limit is 64.0 MiB.');
    assert.equal(serverLimitFault('67108864', 67_108_864), undefined);
    assert.equal(serverLimitFault('', 67_108_864), undefined);
    assert.equal(serverLimitFault('67108865', Infinity), undefined);
  });
});

describe('sizeHint()', () => {
  it('tells how much it is', () => {
    assert.equal(sizeHint('32', 65_536), '2.00 MiB');
    assert.equal(sizeHint('', 1), undefined);
    assert.equal(sizeHint('many', 1), undefined);
  });
});

describe('rulesInWords()', () => {
  it('says each limit, and what there is no limit of', () => {
    assert.deepEqual(rulesInWords(point(true, some)), [
      'The team approves each new version before hosts get it.',
      'Module size: at most 1.91 MiB (2,000,000 bytes).',
      'Initial memory: at most 2.00 MiB (32 pages).',
      'WASI: not allowed.',
      'Proposals: simd.',
    ]);
    assert.equal(rulesInWords(point(false, none)).length, 5);
    const plan = { steps: [{ percent: 1, holdSeconds: null }], halt: null };
    assert.equal(
      rulesInWords({ ...point(true, none), rollOut: plan })[1],
      'Roll-out: 1% until promoted, then all guests.',
    );
  });
});

describe('proposalWords', () => {
  it('stand in the order in which proposals are listed elsewhere', () => {
    assert.deepEqual(Object.keys(proposalWords), [...wasmProposals]);
  });
});
