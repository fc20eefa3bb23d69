import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventText } from './event-text.ts';

describe('eventText()', () => {
  it('has a line for each present field, and an empty line at the end', () => {
    assert.equal(
      eventText({ event: 'binding', data: { guestKey: 'a' }, id: '7-aa' }),
      'id: 7-aa\nevent: binding\ndata: {"guestKey":"a"}\n\n',
    );
    assert.equal(eventText({ retryMs: 1000 }), 'retry: 1000\n\n');
    assert.equal(eventText({ id: '7-aa' }), 'id: 7-aa\n\n');
  });

  it('has no other line breaks, whatever the data is', () => {
    const data = { guestKey: 'a\r\nevent: end\n\ndata: {}\r\u0085' };
    assert.equal(eventText({ data }).match(/[\r\n]/g)?.length, 2);
  });
});
