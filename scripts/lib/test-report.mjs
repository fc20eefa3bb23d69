// How a run of the tests is reported: as node's own `spec` does, with the slowest files before the summary. Sets the exit
// code to 1 when no test ran, and writes the files with failed tests to the file that `TEST_FAILED_LIST` names.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import process from 'node:process';
import { compose } from 'node:stream';
import { spec as SpecReporter } from 'node:test/reporters';
import { root } from './workspace.mjs';

/** How many of the slowest files the report lists. */
const listed = 10;

/** @typedef {{ type: string, data: any }} TestEvent */

/**
 * @param {AsyncIterable<TestEvent>} events
 * @returns {AsyncGenerator<string>}
 */
async function* report(events) {
  /** @type {Map<string, number>} milliseconds by file, from the root */
  const durations = new Map();
  /** @type {Set<string>} files with a failed test, from the root */
  const failed = new Set();
  let [tests, childrenMs] = [0, 0];
  async function* noted() {
    for await (const event of events) {
      if (event.type === 'test:summary' && event.data.file !== undefined) tests += event.data.counts.tests;
      if (event.type === 'test:fail') failed.add(fromRoot(event.data.file ?? ''));
      // The events of a process come one after the other. A suite's own time includes the loading of all files before it.
      if (isResult(event, 1)) childrenMs += event.data.details.duration_ms;
      const file = durationOf(event, childrenMs);
      if (file !== undefined) durations.set(file.path, Math.max(durations.get(file.path) ?? 0, file.ms));
      if (isResult(event, 0)) childrenMs = 0;
      yield event;
    }
  }
  for await (const text of compose(noted(), new SpecReporter())) {
    if (/^\S*ℹ tests \d+/.test(text)) {
      yield slowestFiles(durations);
      if (tests === 0) yield 'No test ran.\n';
    }
    yield text;
  }
  if (tests === 0) process.exitCode = 1;
  const { TEST_FAILED_LIST: failedList } = process.env;
  if (failedList !== undefined) writeFileSync(failedList, JSON.stringify([...failed]));
}

/**
 * @param {TestEvent} event
 * @param {number} nesting
 */
function isResult({ type, data }, nesting) {
  return (type === 'test:pass' || type === 'test:fail') && data.nesting === nesting;
}

/**
 * The time of a file, when an event tells one: that of its process, or that of the tests in the suite which stands for a file
 * that shares its process with others.
 *
 * @param {TestEvent} event
 * @param {number} childrenMs
 */
function durationOf(event, childrenMs) {
  const { type, data } = event;
  if (type === 'test:summary' && isTestFile(data.file)) return { path: fromRoot(data.file), ms: data.duration_ms };
  return isResult(event, 0) && isTestFile(data.name) ? { path: fromRoot(data.name), ms: childrenMs } : undefined;
}

/** @param {string | undefined} name */
function isTestFile(name) {
  return name !== undefined && /\.(?:test|proof)\.ts$/.test(name);
}

/** @param {string} file */
function fromRoot(file) {
  return file.startsWith(root) ? relative(root, file) : file;
}

/**
 * The lines that name the slowest files.
 *
 * @param {ReadonlyMap<string, number>} durations milliseconds by file
 */
export function slowestFiles(durations) {
  const slowest = [...durations].sort(([, a], [, b]) => b - a).slice(0, listed);
  const lines = slowest.map(([file, ms]) => `${(ms / 1000).toFixed(1).padStart(8)} s  ${file}\n`);
  return `\nThe slowest files:\n${lines.join('')}\n`;
}

// biome-ignore lint/style/noDefaultExport: node takes a reporter from its module's default export
export default report;
