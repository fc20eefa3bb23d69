import './waiting-calls.test.ts';
