import './counts.test.ts';
