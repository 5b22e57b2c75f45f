import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Time;
import java.sql.Timestamp;
import java.sql.Types;

/** Runs statements with parameters of every type over JDBC; prints one line for each. */
public class JdbcParameters {
  interface Binding {
    void bind(PreparedStatement statement) throws SQLException;
  }

  private static Connection connection;

  public static void main(String[] arguments) throws Exception {
    connection = DriverManager.getConnection(arguments[0]);
    query("SELECT i FROM kinds WHERE i = ?", s -> s.setInt(1, 5));
    query("SELECT i FROM kinds WHERE i = ?", s -> s.setLong(1, Long.MAX_VALUE));
    query("SELECT f FROM kinds WHERE f = ?", s -> s.setDouble(1, 1.5));
    query("SELECT f FROM kinds WHERE f > ?", s -> s.setInt(1, 1));
    query("SELECT f FROM kinds WHERE f > ?", s -> s.setBigDecimal(1, new BigDecimal("1.25")));
    query("SELECT b FROM kinds WHERE b = ?", s -> s.setBoolean(1, true));
    query("SELECT s FROM kinds WHERE s = ?", s -> s.setString(1, "hällo"));
    query("SELECT t FROM kinds WHERE t = ? AND i < ?", s -> {
      s.setString(1, "a");
      s.setLong(2, 9);
    });
    query("SELECT i FROM kinds WHERE time = ?", s -> s.setTimestamp(1, new Timestamp(1700000000123L)));
    query("SELECT count(*) FROM kinds WHERE i = ?", s -> s.setNull(1, Types.BIGINT));
    query("SELECT CAST(? AS DATE) AS day", s -> s.setDate(1, Date.valueOf("2020-02-03")));
    query("SELECT i FROM kinds ORDER BY i LIMIT ?", s -> s.setInt(1, 1));
    query("SELECT ? AS free", s -> s.setString(1, "text"));
    query("SELECT CAST(? AS TIME) AS t", s -> s.setTime(1, Time.valueOf("10:11:12")));
    byte[] digest = MessageDigest.getInstance("SHA-256").digest("hällo".getBytes(UTF_8));
    query("SELECT s FROM kinds WHERE sha256(s) = ?", s -> s.setBytes(1, digest));
    describe();
    connection.close();
  }

  /** Asks for every fact there is about the server; prints those that cannot be had. */
  private static void describe() throws SQLException {
    DatabaseMetaData facts = connection.getMetaData();
    int count = 0;
    for (Method method : DatabaseMetaData.class.getMethods()) {
      Class<?> type = method.getReturnType();
      boolean isPlain = type.isPrimitive() || type == String.class;
      if (!isPlain || method.getParameterCount() > 0) continue;
      try {
        method.invoke(facts);
        count++;
      } catch (ReflectiveOperationException failure) {
        System.out.println(method.getName() + ": " + failure.getCause());
      }
    }
    System.out.println(count > 100 ? "all facts" : count + " facts");
  }

  private static void query(String sql, Binding binding) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      binding.bind(statement);
      StringBuilder line = new StringBuilder();
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) line.append(rows.getObject(1)).append(';');
      }
      System.out.println(line);
    }
  }
}
