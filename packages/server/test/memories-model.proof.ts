import './memories-model.test.ts';
