import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ProvenancePolicy, ProvenanceSource } from '@tenon/protocol';
import { DomainError } from '../http/domain-errors.ts';
import { sourceOfClaims, sourceOfSigner } from './ci-claims.ts';
import { acceptsSource, changeProvenancePolicy, matchesPattern, relaxesPolicy } from './provenance-policy.ts';
import { noSigner } from './statement.ts';

const github = 'https://token.actions.githubusercontent.com';
const requiring = (...sources: ProvenanceSource[]): ProvenancePolicy => ({ mode: 'require', sources });

describe('matchesPattern()', () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['acme/median', 'acme/median', true],
    ['acme/median', 'acme/median2', false],
    ['acme/*', 'acme/median', true],
    ['acme/*', 'evil/acme/median', false],
    ['*/median', 'acme/median', true],
    ['a*b*c', 'abc', true],
    ['a*b*c', 'acb', false],
    ['a*a', 'a', false],
    ['*', '', true],
    ['*.yml@refs/tags/*', 'publish.yml@refs/tags/v1', true],
    ['a.c', 'abc', false],
    ['**', 'anything', true],
  ];
  for (const [pattern, text, expected] of cases) {
    it(`returns ${expected} for ${pattern} and "${text}"`, () => assert.equal(matchesPattern(pattern, text), expected));
  }

  it('takes no long time for many stars', () => {
    const startedAt = performance.now();
    assert.equal(matchesPattern(`${'*a'.repeat(240)}b`, 'a'.repeat(1000)), false);
    assert.ok(performance.now() - startedAt < 200);
  });
});

describe('changeProvenancePolicy()', () => {
  it('keeps absent fields', () => {
    const present = requiring({ issuer: github });
    assert.deepEqual(changeProvenancePolicy(undefined, present), present);
    assert.deepEqual(changeProvenancePolicy({ mode: 'record' }, present), { ...present, mode: 'record' });
    const sources = [{ issuer: 'https://ci.example.com' }];
    assert.deepEqual(changeProvenancePolicy({ sources }, present), { mode: 'require', sources });
  });

  const refused: Readonly<Record<string, ProvenancePolicy>> = {
    '`require` without sources': requiring(),
    'an empty source': requiring({}),
    'a repository without a host and an issuer': requiring({ repository: 'acme/median' }),
    'a repository whose host is a pattern': requiring({ repository: 'https://*/acme/median' }),
    'a repository whose host has a pattern': requiring({ repository: 'https://*.com/acme/median' }),
    'a repository with an issuer at any host': requiring({ issuer: '*', repository: 'acme/median' }),
    'an issuer whose host can continue': requiring({ issuer: 'https://ci.example.com*', repository: 'acme/median' }),
    'a workflow without a host and an issuer': requiring({ workflow: 'acme/median/.github/workflows/a.yml@*' }),
  };
  for (const [what, policy] of Object.entries(refused)) {
    it(`refuses ${what}`, () => {
      assert.throws(
        () => changeProvenancePolicy(policy),
        (error) => {
          return error instanceof DomainError && error.code === 'invalid_field';
        },
      );
    });
  }
});

describe('relaxesPolicy()', () => {
  const strict = requiring({ issuer: github, repository: 'acme/median' });
  it('is true for another mode, and for another or changed source', () => {
    assert.equal(relaxesPolicy(strict, { ...strict, mode: 'record' }), true);
    assert.equal(relaxesPolicy(strict, { ...strict, mode: 'none' }), true);
    assert.equal(relaxesPolicy(strict, requiring({ issuer: github })), true);
    assert.equal(relaxesPolicy(strict, requiring(...strict.sources, { issuer: 'https://ci.example.com' })), true);
  });

  it('is false for the same and fewer sources, and if nothing was required', () => {
    const two = requiring(...strict.sources, { issuer: 'https://ci.example.com' });
    assert.equal(relaxesPolicy(two, strict), false);
    assert.equal(relaxesPolicy(strict, strict), false);
    assert.equal(relaxesPolicy({ mode: 'record', sources: [] }, strict), false);
  });
});

describe('acceptsSource()', () => {
  const source = { issuer: github, repositories: ['https://github.com/acme/median', 'acme/median'], workflows: [] };
  it('requires all fields of one source', () => {
    assert.equal(acceptsSource(requiring({ issuer: github, repository: 'acme/*' }), source), true);
    assert.equal(acceptsSource(requiring({ repository: 'https://github.com/acme/median' }), source), true);
    const other = { issuer: 'https://gitlab.com', repository: 'acme/median' };
    assert.equal(acceptsSource(requiring(other, { issuer: github, repository: 'other/*' }), source), false);
    assert.equal(acceptsSource(requiring({ issuer: github, workflow: '*' }), source), false);
  });
});

describe('sourceOfClaims()', () => {
  const policy = requiring(
    { repository: 'https://github.com/acme/median' },
    { workflow: 'https://github.com/acme/median/*' },
  );
  const claims = { subject: 'a', repository: 'acme/median', workflowRef: 'acme/median/a.yml@refs/tags/v1' };
  const accepts = (changes: object) => acceptsSource(policy, sourceOfClaims({ ...claims, issuer: github, ...changes }));

  it("has the issuer's host, whatever the claims say", () => {
    assert.equal(accepts({}), true);
    assert.equal(accepts({ issuer: 'https://evil.example' }), false);
    const [repository, workflowRef] = ['https://github.com/acme/median', 'https://github.com/acme/median/a.yml'];
    assert.equal(accepts({ issuer: 'https://evil.example', repository, workflowRef }), false);
    const shortened = { repository: '//github.com/acme/median', workflowRef: 'github.com/acme/median//a.yml' };
    assert.equal(accepts({ issuer: 'https://evil.example', ...shortened }), false);
  });

  it('knows the host in front of workflows of GitLab', () => {
    const workflowRef = 'gitlab.example/acme/median//.gitlab-ci.yml@refs/heads/main';
    const { workflows } = sourceOfClaims({ subject: 'a', issuer: 'https://gitlab.example', workflowRef });
    assert.deepEqual(workflows, [
      'acme/median//.gitlab-ci.yml@refs/heads/main',
      'https://gitlab.example/acme/median//.gitlab-ci.yml@refs/heads/main',
    ]);
  });
});

describe('sourceOfSigner()', () => {
  it('reads no URL out of the path of another one', () => {
    const policy = requiring({ repository: 'https://github.com/acme/*' }, { workflow: 'https://github.com/acme/*' });
    const url = 'https://evil.example/https://github.com/acme/median';
    for (const field of ['repository', 'workflow', 'identity']) {
      const signer = { ...noSigner, issuer: 'https://evil.example' };
      assert.equal(acceptsSource(policy, sourceOfSigner({ ...signer, [field]: url })), false, field);
    }
    const real = { ...noSigner, issuer: github, repository: 'https://github.com/acme/median' };
    assert.equal(acceptsSource(policy, sourceOfSigner(real)), true);
  });
});
