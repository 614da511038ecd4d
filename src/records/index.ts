export { openEvents } from "./events.js";
