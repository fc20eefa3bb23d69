import './hostile-events.test.ts';
