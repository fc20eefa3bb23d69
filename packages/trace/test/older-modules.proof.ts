import './older-modules.test.ts';
