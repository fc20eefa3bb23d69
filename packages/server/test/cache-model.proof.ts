import './cache-model.test.ts';
