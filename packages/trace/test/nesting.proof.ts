import './nesting.test.ts';
