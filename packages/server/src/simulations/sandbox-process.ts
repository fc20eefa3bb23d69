import { serveConfined } from './serve-confined.ts';

serveConfined(() => {
  throw new Error('This version has no runner for simulations');
});
