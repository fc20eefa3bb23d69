import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drawCurves, type Panel } from '../../bench/support/curves.ts';

const panel: Panel = {
  title: 'Cost & "more" <less>',
  xLabel: 'keys',
  unit: 'µs',
  curves: [
    {
      name: 'flat',
      colour: 0,
      isDashed: false,
      points: [
        [1000, 10],
        [10_000, 10],
        [1_000_000, 10],
      ],
    },
    { name: 'none', colour: 1, isDashed: true, points: [[1000, 0]] },
  ],
};

/** The points of each curve, as they are drawn. */
const drawn = (svg: string) =>
  [...svg.matchAll(/<polyline [^>]*points="([^"]*)"/g)].map(([, points = '']) =>
    points.split(' ').map((point) => point.split(',').map(Number)),
  );

describe('drawCurves()', () => {
  it('puts equal factors at equal distances, and equal values at one height', () => {
    const [flat = [], none = []] = drawn(drawCurves([panel], 'a picture'));
    const [[x1 = 0, y1] = [], [x2 = 0, y2] = [], [x3 = 0, y3] = []] = flat;
    assert.ok(Math.abs((x3 - x1) / (x2 - x1) - 3) < 0.01, `${x1} ${x2} ${x3}`);
    assert.deepEqual([y1, y2], [y2, y3]);
    assert.ok((none[0]?.[1] ?? 0) > (y1 ?? 0), '0 is below 10');
  });

  it('marks the axes with round numbers that reach the largest value', () => {
    const svg = drawCurves([panel], 'a picture');
    const marks = [...svg.matchAll(/<text [^>]*text-anchor="end">([^<]*)</g)].map(([, text]) => text);
    assert.deepEqual(marks, ['0 µs', '5 µs', '10 µs']);
    for (const keys of ['1,000', '10,000', '1,000,000']) assert.ok(svg.includes(`>${keys}</text>`), keys);
  });

  it('draws one point, and what costs nothing', () => {
    const only = { ...panel, curves: panel.curves.slice(1) };
    assert.doesNotMatch(drawCurves([only], 'a picture'), /NaN|Infinity/);
  });

  it('takes texts for texts, and has one for who cannot see it', () => {
    const svg = drawCurves([panel], 'lists & <keys>');
    assert.ok(svg.includes('<title>lists &amp; &lt;keys></title>'));
    assert.ok(svg.includes('Cost &amp; &quot;more&quot; &lt;less>'));
  });

  it('refuses a panel of nothing', () => {
    assert.throws(() => drawCurves([{ ...panel, curves: [] }], 'a picture'), RangeError);
  });
});
