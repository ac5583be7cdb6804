// Numbers in words: three digits and the unit that suits them.

// "1.23", "12.3", "123", "1234".
const threeDigits = (value) => value >= 999.5 ? value.toFixed(0) : value.toPrecision(3);

// `units`: the name and size of each, the largest first; what is smaller than all is told by `otherwise`.
const inUnits = (value, units, otherwise) => {
  // 999.6 would be written as 1000.
  const unit = units.find(([, size]) => value >= 0.9995 * size);
  return unit ? threeDigits(value / unit[1]) + " " + unit[0] : otherwise(value);
};
