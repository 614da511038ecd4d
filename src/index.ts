export { InputError } from "./base/errors.js";
export { type Random, random } from "./base/random.js";
