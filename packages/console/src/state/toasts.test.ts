import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createToasts } from './toasts.ts';

describe('createToasts()', () => {
  it('shows a toast for 6 s, one that can be undone for 20 s, and none that is held', (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const { tick } = test.mock.timers;
    const toasts = createToasts();
    const texts = () => toasts.list.get().map(({ text }) => text);
    toasts.show('Saved.');
    toasts.show('Blocked.', 'done', async () => {});
    tick.call(test.mock.timers, 6_000);
    assert.deepEqual(texts(), ['Blocked.']);
    const id = toasts.list.get()[0]?.id ?? 0;
    toasts.hold(id);
    tick.call(test.mock.timers, 600_000);
    assert.deepEqual(texts(), ['Blocked.']);
    toasts.resume(id);
    tick.call(test.mock.timers, 19_999);
    assert.deepEqual(texts(), ['Blocked.']);
    tick.call(test.mock.timers, 1);
    assert.deepEqual(texts(), []);
  });

  it('shows the newest four', () => {
    const toasts = createToasts();
    for (const text of ['1', '2', '3', '4', '5']) toasts.show(text);
    assert.deepEqual(
      toasts.list.get().map(({ text }) => text),
      ['2', '3', '4', '5'],
    );
    for (const { id } of toasts.list.get()) toasts.dismiss(id);
  });
});
