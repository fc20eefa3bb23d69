import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createRandom, type Random } from '../../../../test/helpers/random.ts';
import { ExpectedLists } from './expected-lists.ts';
import { type Event, History } from './history.ts';
import {
  contents,
  drawDelayMs,
  drawKind,
  drawOperation,
  drawScene,
  firstHolders,
  type GuestKey,
  guestKeys,
  type Name,
  names,
  type Person,
  people,
  type Scene,
  waitMs,
} from './operations.ts';
import { type Prediction, predict } from './predict.ts';
import { changeText, type Sequence, type Stage } from './stage.ts';

/** What came of the operations of sequences: how many were done, and how many were refused, by kind and code. */
export type Tally = Map<string, number>;

/**
 * Performs one sequence on the service and on the model, and holds the two against each other after every step.
 *
 * @throws Error that names the seed and lists what was done; its cause says what differs
 */
export async function runSequence(stage: Stage, seed: number, tally: Tally): Promise<void> {
  const random = createRandom(seed);
  const scene = drawScene(random);
  const sequence = await stage.begin();
  let history = new History(firstHolders.map(([guest, user]): Event => ({ kind: 'join', guest, user })));
  const lists = new ExpectedLists();
  const reported: string[] = [];
  const etags = new Map<GuestKey, string>();
  for (const guest of guestKeys) etags.set(guest, (await sequence.list(guest)).etag);
  let nowMs = Date.UTC(2026, 4, 1) + random.below(1000);
  try {
    const length = 1 + random.below(scene.maxLength);
    for (let step = 0; step < length; step++) {
      nowMs += drawDelayMs(random);
      const { operation, prediction } = drawStep(random, scene, history, step);
      if (operation.kind === 'wait') nowMs += waitMs;
      reported.push(`${nowMs} ${JSON.stringify(operation)}`);
      const before = await sequence.bound();
      const tried = await sequence.dryRun(operation, nowMs);
      const code = await sequence.perform(operation, nowMs);
      if (tried !== undefined) {
        const changes = code ?? changesSince(before, await sequence.bound()).sort();
        assert.deepEqual(typeof tried === 'string' ? tried : tried.toSorted(), changes, 'the effects of its dry run');
        tally.set(`dry run of ${operation.kind}`, (tally.get(`dry run of ${operation.kind}`) ?? 0) + 1);
      }
      const outcome = `${operation.kind} ${code ?? 'done'}`;
      tally.set(outcome, (tally.get(outcome) ?? 0) + 1);
      assert.equal(code, 'code' in prediction ? prediction.code : undefined, 'what came of the last of them');
      if ('event' in prediction) {
        const { event, copies = [] } = prediction;
        history = new History([...history.events, event, ...(operation.kind === 'wait' ? [] : copies)]);
        // Each version that has its age is published in a transaction of its own, and moves the bindings.
        for (const copy of operation.kind === 'wait' ? copies : []) {
          lists.follow(history, nowMs);
          history = new History([...history.events, copy]);
        }
      }
      lists.follow(history, nowMs);
      const changes = await sequence.changes();
      for (const guest of guestKeys) {
        const etag = await compareList(sequence, history, lists, guest);
        const isReported = changes.includes(guest);
        assert.equal(isReported, etag !== etags.get(guest), `news of the list of ${guest}`);
        if (isReported) tally.set('changes emitted', (tally.get('changes emitted') ?? 0) + 1);
        etags.set(guest, etag);
      }
      if (operation.kind !== 'wait') assert.equal(new Set(changes).size, changes.length, 'each list has one event');
    }
    if (seed % 4 === 0) await compareReaders(sequence, history);
  } catch (cause) {
    throw new Error(`The service and the model disagree, seed ${seed}:\n${reported.join('\n')}`, { cause });
  }
}

function changesSince(before: ReadonlyMap<string, number | null>, after: ReadonlyMap<string, number | null>): string[] {
  return [...before].flatMap(([binding, version]) => {
    const now = after.get(binding) ?? null;
    return now === version ? [] : changeText(binding, version, now);
  });
}

/**
 * Most of what is drawn at random is about things that are not there. So for most steps something is looked for that can be
 * done, and for some what is refused for a better reason.
 */
function drawStep(random: Random, scene: Scene, history: History, step: number) {
  const newestOf = (of: Person, name: Name) => history.plugin(of, name).newest()?.number ?? 0;
  const isWanted = random.pick<(prediction: Prediction) => boolean>([
    () => true,
    (prediction) => 'code' in prediction && prediction.code !== 'not_found',
    ...Array.from({ length: 6 }, () => (prediction: Prediction) => 'event' in prediction),
  ]);
  for (let draws = 40; ; ) {
    const kind = drawKind(random, scene, step);
    for (let ofKind = 0; ofKind < 8; ofKind++) {
      const operation = drawOperation(random, scene, kind, newestOf);
      const prediction = predict(history, operation);
      if (--draws <= 0 || isWanted(prediction)) return { operation, prediction };
    }
  }
}

/** @returns the entity tag of the list */
async function compareList(
  sequence: Sequence,
  history: History,
  lists: ExpectedLists,
  guest: GuestKey,
): Promise<string> {
  const entries = lists.list(history, guest).map(({ of, name, content, updatedAtMs }) => {
    const id = sequence.pluginId(of, name);
    const updatedAt = new Date(updatedAtMs).toISOString();
    return `"${name}":{"id":"${id}","contentAddress":"${sequence.addressOf(content)}","updatedAt":"${updatedAt}"}`;
  });
  const expected = `{${entries.join(',')}}`;
  const { json, etag } = await sequence.list(guest);
  assert.equal(json, expected, `the list of ${guest}`);
  assert.equal(etag, `"${createHash('sha256').update(expected).digest('base64url')}"`);
  return etag;
}

/** Content is there as long as some version has it, yanked or not, for the team and for who published it; then no more. */
async function compareReaders(sequence: Sequence, history: History): Promise<void> {
  for (const content of contents) {
    const owners = people.filter((of) =>
      names.some((name) =>
        history
          .plugin(of, name)
          .versions()
          .some((version) => version.content === content),
      ),
    );
    assert.equal(await sequence.mayRead('olga', content), owners.length > 0, `Olga reads ${content}`);
    const isAnns = owners.includes('ann') && history.holds('ann').length > 0;
    assert.equal(await sequence.mayRead('ann', content), isAnns, `Ann reads ${content}`);
  }
}
