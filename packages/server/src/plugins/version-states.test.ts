import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { VersionState } from '@tenon/protocol';
import type { PluginRole } from '../db/records.ts';
import { DomainError } from '../http/domain-errors.ts';
import {
  ageTransitions,
  publishTransitions,
  requireTransition,
  verdictTransitions,
  versionTransitions,
} from './version-states.ts';

const states: VersionState[] = [
  'testing',
  'failed',
  'awaiting_approval',
  'cooling_down',
  'rejected',
  'published',
  'yanked',
];
const everyAction = ['retest', 'approve', 'reject', 'release', 'yank', 'restore'] as const;
const everyRoles: PluginRole[][] = [['publisher'], ['host'], ['publisher', 'host']];

/** The result of an action: the new state and the deciding role, or the error code. */
function outcome(
  state: VersionState,
  stateRole: PluginRole | null,
  action: (typeof everyAction)[number],
  roles: PluginRole[],
  releaseAtMs: number | null = null,
): string {
  try {
    const decision = requireTransition({ number: 3, state, stateRole, releaseAtMs }, action, roles, 1000);
    return `${decision.state} by ${decision.side}`;
  } catch (error) {
    assert.ok(error instanceof DomainError);
    return error.code;
  }
}

describe('requireTransition()', () => {
  it('allows each action in few states, for the right roles', () => {
    const possible: string[] = [];
    for (const state of states) {
      for (const action of everyAction) {
        for (const roles of everyRoles) {
          const found = outcome(state, null, action, roles);
          if (found !== 'conflict') possible.push(`${state} ${action} as ${roles.join('+')}: ${found}`);
        }
      }
    }
    assert.deepEqual(possible, [
      'testing reject as publisher: forbidden',
      'testing reject as host: rejected by host',
      'testing reject as publisher+host: rejected by host',
      'failed retest as publisher: testing by publisher',
      'failed retest as host: testing by host',
      'failed retest as publisher+host: testing by publisher',
      'awaiting_approval approve as publisher: forbidden',
      'awaiting_approval approve as host: published by host',
      'awaiting_approval approve as publisher+host: published by host',
      'awaiting_approval reject as publisher: forbidden',
      'awaiting_approval reject as host: rejected by host',
      'awaiting_approval reject as publisher+host: rejected by host',
      'cooling_down reject as publisher: forbidden',
      'cooling_down reject as host: rejected by host',
      'cooling_down reject as publisher+host: rejected by host',
      'cooling_down release as publisher: forbidden',
      'cooling_down release as host: published by host',
      'cooling_down release as publisher+host: published by host',
      'cooling_down yank as publisher: yanked by publisher',
      'cooling_down yank as host: yanked by host',
      'cooling_down yank as publisher+host: yanked by publisher',
      'published yank as publisher: yanked by publisher',
      'published yank as host: yanked by host',
      'published yank as publisher+host: yanked by publisher',
      'yanked restore as publisher: published by publisher',
      'yanked restore as host: published by host',
      'yanked restore as publisher+host: published by publisher',
    ]);
  });

  it('lets only the host restore what it yanked', () => {
    assert.equal(outcome('yanked', 'host', 'restore', ['publisher']), 'forbidden');
    assert.equal(outcome('yanked', 'host', 'restore', ['publisher', 'host']), 'published by host');
    assert.equal(outcome('yanked', 'publisher', 'restore', ['host']), 'published by host');
  });

  it('publishes no version before its minimum age, except when the host releases it', () => {
    const early = (state: VersionState, action: (typeof everyAction)[number], releaseAtMs = 1001) =>
      outcome(state, null, action, ['host'], releaseAtMs);
    assert.equal(early('awaiting_approval', 'approve'), 'cooling_down by host');
    assert.equal(early('yanked', 'restore'), 'cooling_down by host');
    assert.equal(outcome('yanked', null, 'restore', ['publisher'], 1001), 'cooling_down by publisher');
    assert.equal(outcome('yanked', 'host', 'restore', ['publisher'], 1001), 'forbidden');
    assert.equal(early('cooling_down', 'release'), 'published by host');
    assert.equal(early('awaiting_approval', 'approve', 1000), 'published by host');
    assert.equal(early('yanked', 'restore', 1000), 'published by host');
  });

  it('leads out of every state except "rejected"', () => {
    const ends = states.filter(
      (state) => ![...verdictTransitions, ...ageTransitions, ...versionTransitions].some(({ from }) => from === state),
    );
    assert.deepEqual(ends, ['rejected']);
  });
});

describe('the states of a version', () => {
  it("equal the documentation's diagram", () => {
    const page = readFileSync(new URL('../../../../docs/explanation/publishing.md', import.meta.url), 'utf8');
    const [, drawing = ''] = /```mermaid\nstateDiagram-v2\n([^`]+)```/.exec(page) ?? [];
    const drawn = [...drawing.matchAll(/^\s+(\w+) --> (\w+): (.+)$/gm)].map((match) => match.slice(1).join(' | '));
    const expected = [
      ...[...publishTransitions, ...verdictTransitions, ...ageTransitions].map(
        ({ from, to, when }) => `${from} | ${to} | ${when}`,
      ),
      ...versionTransitions.map(({ from, to, action, roles, isEarly }) => {
        const when = isEarly ? ' before the minimum age' : '';
        return `${from} | ${to} | ${action}${when} (${roles.join(', ')})`;
      }),
    ];
    assert.deepEqual(drawn, expected);
    assert.match(drawing, /\[\*\] --> received/);
  });
});
